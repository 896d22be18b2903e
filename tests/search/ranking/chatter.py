"""Conversations about nothing in particular, in the words of the stories: what an answer must be told apart from."""

from __future__ import annotations

import random
from collections.abc import Iterator

Turn = tuple[str, str]

SLOTS = {
    "thing": (
        "nginx config|docker image|CI pipeline|orders api|billing worker|search index|login page|staging server|"
        "backup job|migration script|redis cache|postgres replica|kafka consumer|export command|upload form|"
        "webhook handler|test suite|build script|report query|session store|disk alert|certificate check|"
        "deploy script|token service|queue worker|dashboard|gateway|invoice template|feature flag|log parser"
    ),
    "wish": (
        "is slow again|fails with a timeout|needs a cleanup|should be documented|has no tests|logs too much|"
        "shows an error after the deploy|uses the old port|should retry on failure|breaks on unicode input|"
        "needs another index|keeps too many connections open|runs out of memory on large files|"
        "should read its password from the environment|duplicates rows now and then|is flaky on Mondays"
    ),
    "finding": (
        "The timeout is hard coded.|The cache key contains the time, so it never hits.|Two workers share one lock.|"
        "The query reads the whole table.|The port is taken from the wrong variable.|The token has expired.|"
        "The retry loop swallows the error.|The connection is never closed.|The test depends on the clock.|"
        "The file is opened without an encoding.|The job starts before the database is up.|"
        "The image is rebuilt on every push.|The limit is counted per process, not per user.|"
        "The migration runs twice when the deploy is repeated."
    ),
    "step": (
        "I changed {file} and ran {command}.|The fix is in {file}; {command} passes.|"
        "I added a test to {file} first, then the change.|Nothing to change in {file} after all, only the docs.|"
        "I moved the setting to {file} and restarted the service.|I reverted {file} and opened an issue for the rest."
    ),
    "file": (
        "src/app/settings.py|deploy/nginx.conf|docker-compose.yml|.github/workflows/ci.yml|src/billing/worker.py|"
        "migrations/0042_orders.sql|web/src/pages/Login.tsx|internal/gateway/server.go|config/redis.conf|"
        "tests/test_export.py|charts/api/values.yaml|scripts/backup.sh|src/search/index.rs|lib/tokens.rb"
    ),
    "command": (
        "`pytest -q`|`make test`|`docker compose up -d`|`go test ./...`|`npm run build`|`cargo check`|"
        "`kubectl get pods`|`systemctl restart app`|`git rebase main`|`terraform plan`|`ruff check .`"
    ),
    "answer": (
        "thanks, that works|ok, next one|can you explain why?|please also update the changelog|hm, it still fails here|"
        "good, commit it|leave it for tomorrow|why was that so slow?|run the tests again|and on the other server?"
    ),
    "log": (
        "INFO worker started on port {number}|WARN slow query took {number} ms|ERROR connection reset by peer|"
        "INFO deploy finished in {number} s|GET /api/orders 200 {number}|POST /api/login 401 {number}|"
        "DEBUG cache miss for session {number}|INFO backup written, {number} MB|WARN disk usage at {number} percent|"
        "ERROR token rejected, user {number}|INFO migration {number} applied|GET /health 502 {number}"
    ),
}
OTHER_LANGUAGES = {
    "Indonesian": (
        "tolong cek server produksi, halamannya lambat|apakah database sudah dicadangkan hari ini?|"
        "pengguna tidak bisa mengunggah foto di halaman profil|kenapa antrian tidak berjalan setelah deploy?",
        "Sudah saya periksa, {command} berjalan normal.|"
        "Penyebabnya cache lama, sudah saya hapus dan servis dimulai ulang.|"
        "Saya ubah {file} lalu jalankan ulang, sekarang aman.|Kolom tanggal belum punya index, sudah ditambah.",
    ),
    "German": (
        "kannst du den server neu starten, die seite ist langsam|warum schlägt der import der rechnungen fehl?|"
        "die verbindung zum drucker ist weg|wir brauchen ein neues zertifikat für die schnittstelle",
        "Erledigt, der Dienst läuft wieder.|In {file} stand der falsche Port, ich habe ihn geändert.|"
        "Die Datenbank war voll, alte Werte sind gelöscht.|Ich habe {command} ausgeführt, keine Fehler.",
    ),
    "Spanish": (
        "el servidor responde muy lento esta mañana|por qué falla la importación de clientes?|"
        "las conexiones con la base de datos se cierran|hay que renovar el certificado de la tienda",
        "Cambié {file} y ya funciona.|El índice estaba dañado, lo reconstruí.|"
        "Reinicié el servicio con {command}, no hay errores.|La zona horaria del servidor era incorrecta.",
    ),
    "French": (
        "le serveur est lent depuis ce matin|pourquoi l'export des clients échoue-t-il ?|"
        "la sauvegarde de la nuit n'a pas tourné|les courriels ne partent plus",
        "J'ai modifié {file}, tout fonctionne.|Le cache était plein, je l'ai vidé.|"
        "La recherche utilisait un ancien index.|J'ai relancé {command} sans erreur.",
    ),
    "Portuguese": (
        "o site está lento depois do deploy|por que o relatório de clientes não abre?|"
        "o certificado do servidor vai expirar|a importação de notas falhou de novo",
        "Corrigi {file} e a busca voltou ao normal.|O banco estava sem espaço, limpei os logs.|"
        "Rodei {command}, sem erros.|O webhook estava com a chave antiga.",
    ),
    "Chinese": (
        "服务器今天很慢，帮我看一下|为什么数据库备份没有执行？|订单接口返回超时错误|新版本什么时候发布？",
        "已经修改 {file} 并重启服务。|缓存已满，清理之后恢复正常。|执行 {command} 没有报错。|连接超时调到了三十秒。",
    ),
}
CRON_PROMPT = (
    "Nightly check: look at the disk, the backup, the certificate, the queue, slow queries, failed deploys and "
    "errors in the nginx log of the last 24 hours; answer with one line per server."
)


class Chatter:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def conversations(self, count: int) -> Iterator[tuple[str, str, list[Turn]]]:
        """(source, title, turns): mostly English, every tenth run by cron."""
        for number in range(count):
            if number % 10 == 9:
                yield "cron", "Nightly check", self._cron()
            elif number % 4 == 2:
                language = self.chance.choice(sorted(OTHER_LANGUAGES))
                yield "telegram", "", self._foreign(*OTHER_LANGUAGES[language])
            else:
                yield self.chance.choice(("cli", "telegram")), self._filled("About the {thing}"), self._english()

    def _english(self) -> list[Turn]:
        turns: list[Turn] = []
        for _ in range(self.chance.randint(1, 4)):
            turns.append(("user", self._filled("the {thing} {wish}, can you have a look?")))
            if self.chance.random() < 0.4:
                turns.append(("tool", self._log()))
            turns.append(("assistant", self._filled("{finding} {step}")))
            turns.append(("user", self._filled("{answer}")))
        return turns

    def _foreign(self, asked: str, answered: str) -> list[Turn]:
        rounds = range(self.chance.randint(1, 3))
        return [turn for _ in rounds for turn in (("user", self._one(asked)), ("assistant", self._one(answered)))]

    def _cron(self) -> list[Turn]:
        return [("user", CRON_PROMPT), ("tool", self._log()), ("assistant", "All servers fine, one warning.")]

    def _log(self) -> str:
        return "\n".join(self._filled("{log}") for _ in range(self.chance.randint(5, 60)))

    def _one(self, choices: str) -> str:
        return self._filled(self.chance.choice(choices.split("|")))

    def _filled(self, template: str) -> str:
        while "{" in template:
            slot = template[template.index("{") + 1 : template.index("}")]
            value = str(self.chance.randint(2, 9999)) if slot == "number" else self._raw(SLOTS[slot])
            template = template.replace(f"{{{slot}}}", value, 1)
        return template

    def _raw(self, choices: str) -> str:
        return self.chance.choice(choices.split("|"))
