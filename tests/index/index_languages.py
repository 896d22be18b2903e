"""Texts of many kinds to be cut into queries: words by language, and the things that developers paste."""

from __future__ import annotations

import random

SPACED: dict[str, str] = {
    "english": """the server returned an error after we deployed new version yesterday please check database connection
        timeout before restarting worker queue memory usage grows slowly until process gets killed by kernel it's
        don't you'll user's re-run e.g. half-finished Q3 naïve café""",
    "russian": """сервер вернул ошибку после обновления проверьте подключение к базе данных перед перезапуском очередь
        память растёт пока процесс не будет убит ещё раз журнал показывает таймаут соединения Москва Ёлка""",
    "arabic": """الخادم أعاد خطأ بعد التحديث يرجى التحقق من الاتصال بقاعدة البيانات قبل إعادة التشغيل
        الذاكرة تنمو ببطء حتى تتوقف العملية سجل يظهر انتهاء المهلة مَرْحَبًا السلام""",
    "indonesian": """server mengembalikan kesalahan setelah pembaruan silakan periksa koneksi basis data sebelum memulai
        ulang antrean memori bertambah perlahan sampai proses dihentikan buku-buku kami tidak menemukan berkas itu""",
    "korean": """서버가 업데이트 후 오류를 반환했습니다 데이터베이스 연결을 확인하세요 작업 대기열을 다시
        시작하기 전에 메모리 사용량이 천천히 증가합니다 프로세스가 종료될 때까지 로그를 보세요""",
}
UNSPACED: dict[str, tuple[str, ...]] = {
    "chinese": (
        "服务器在更新后返回错误", "请先检查数据库连接", "重新启动工作队列之前", "内存使用量缓慢增长",
        "直到进程被内核杀死", "日志显示连接超时", "配置文件在哪里", "我们昨天部署了新版本", "第三章讲的是什么",
    ),
    "japanese": (
        "サーバーが更新後にエラーを返しました", "データベース接続を確認してください",
        "ワーカーを再起動する前に", "メモリ使用量が増え続ける",
        "ログにはタイムアウトとある", "設定ファイルはどこですか", "東京タワーへ行った", "カタカナとひらがな",
    ),
    "thai": (
        "เซิร์ฟเวอร์ส่งคืนข้อผิดพลาด", "โปรดตรวจสอบการเชื่อมต่อฐานข้อมูล", "ก่อนเริ่มคิวงานใหม่", "หน่วยความจำเพิ่มขึ้นเรื่อยๆ",
        "บันทึกแสดงว่าหมดเวลา", "ไฟล์การตั้งค่าอยู่ที่ไหน",
    ),
}  # fmt: skip
NAMES = (
    "state", "config", "nginx", "index", "main", "user", "token", "session", "cache", "queue", "worker", "api", "auth",
    "login", "deploy", "build", "test",
)  # fmt: skip
THINGS = ("code", "path", "url", "email", "flag", "hash", "error")


def name(chance: random.Random) -> str:
    return chance.choice(NAMES)


def thing(kind: str, chance: random.Random) -> str:
    """Something to paste, of one of the kinds of `THINGS`."""
    one, two, three = name(chance), name(chance), name(chance)
    number = chance.randint(0, 9999)
    match kind:
        case "code":
            return chance.choice((
                f"{one}_{two}({three}={number})", f"get{one.title()}{two.title()}()", f"{one}.{two}[{number}]",
                f"{one}->{two}::{three}", f"if {one} != {two}: return {three}", f"SELECT {one} FROM {two};",
                f"{one.upper()}_{two.upper()}", f"@{one}.{two}", f"{one}::<{two}>", f"${{{one}}}",
            ))  # fmt: skip
        case "path":
            return chance.choice((
                f"/etc/{one}/{two}.conf", f"~/.{one}/{two}-{number}.db", f"./{one}/{two}/{three}.py",
                f"C:\\{one}\\{two}.txt", f"/srv/{one}_{two}/{number}/", f"{one}/{two}.test.ts:{number}",
            ))  # fmt: skip
        case "url":
            return chance.choice((
                f"https://{one}.example.org/{two}/{three}?id={number}", f"http://localhost:{number}/{one}#{two}",
                f"git@github.com:{one}/{two}.git", f"postgres://{one}:{two}@db/{three}", f"s3://{one}-{two}/{number}",
            ))  # fmt: skip
        case "email":
            return f"{one}.{two}+{number}@{three}.example.com"
        case "flag":
            return chance.choice((f"--{one}-{two}", f"--{one}={two}", "-x", f"-m '{one} {two}'", f"--{one} {number}"))
        case "hash":
            return "".join(chance.choices("0123456789abcdef", k=chance.choice((7, 12, 40))))
        case _:
            return chance.choice((
                f"E{number:04d}", f"ERR_{one.upper()}_{two.upper()}", f"0x{number:08x}", f"HTTP {400 + number % 130}",
                f"ORA-{number:05d}", f"[{one}] errno {number}", f"{one.title()}Error: {two}", f"#{number}",
            ))  # fmt: skip


def texts(kind: str, chance: random.Random, count: int) -> list[str]:
    return [_text(kind, chance) for _ in range(count)]


def _text(kind: str, chance: random.Random) -> str:
    if kind in SPACED:
        return " ".join(chance.choices(SPACED[kind].split(), k=chance.randint(4, 16)))
    if kind in UNSPACED:
        return chance.choice(("", "，", "。", " ")).join(chance.choices(UNSPACED[kind], k=chance.randint(1, 4)))
    around = SPACED["english"].split()
    if kind == "mixed":
        parts = [_text(chance.choice((*SPACED, *UNSPACED)), chance) for _ in range(2)]
        return " ".join((*parts, thing(chance.choice(THINGS), chance)))
    return " ".join((*chance.choices(around, k=3), thing(kind, chance), *chance.choices(around, k=3)))


KINDS = (*SPACED, *UNSPACED, "mixed", *THINGS)


def cut(text: str, kind: str, chance: random.Random) -> str:
    """A piece of the text such as somebody would type: words in a row, or characters of a script without blanks."""
    if kind in UNSPACED:
        start = chance.randrange(len(text))
        return text[start : start + chance.randint(1, 6)]
    words = text.split()
    start = chance.randrange(len(words))
    return " ".join(words[start : start + chance.randint(1, 3)])
