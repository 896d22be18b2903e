"""The words by which `kinds.py` tells commands, decisions and open items: English, Indonesian, Chinese."""

from __future__ import annotations

_PROGRAMS = """
    apt apt-get awk bash brew bun cat cd chmod chown cmake cp crontab curl cut df diff dig dnf docker-compose
    du echo env export find ffmpeg flask gcc gdb gh go grep gunzip gzip head helm htop hg java journalctl jq
    kill killall less ln ls lsof make mariadb mkdir mongosh mount mv mvn mypy mysql mysqldump nano nc netstat
    nft nginx node nohup nmap openssl patch perl pg_dump pg_restore ping pkill podman ps psql pytest python
    python3 redis-cli rg rm rsync ruby ruff rustc scp screen sed sh sort source sqlite3 ss ssh strace sudo
    tail tar tee terraform tmux touch traceroute tsc uname unzip uvicorn vim watch wc wget which xargs yarn
    zip zsh
"""
PROGRAMS = frozenset(_PROGRAMS.split())

# Programs whose name is an English word or stands in prose: what must follow it.
SUBCOMMANDS = {
    name: frozenset(words.split())
    for name, words in {
        "git": "add bisect blame branch checkout cherry-pick clean clone commit config diff fetch grep init "
        "log merge mv "
        "pull push rebase reflog remote reset restore revert rm show stash status submodule switch tag worktree",
        "docker": "build compose container cp exec image images inspect kill login logs network pull ps push "
        "restart rm rmi "
        "run save start stats stop system tag volume",
        "kubectl": "apply config create delete describe edit exec expose get label logs patch port-forward rollout run "
        "scale set top",
        "pip": "download freeze install list show uninstall wheel",
        "pip3": "download freeze install list show uninstall wheel",
        "pipx": "inject install run upgrade",
        "uv": "add init lock pip python run sync tool venv",
        "poetry": "add build install lock publish run update",
        "npm": "audit ci exec init install link login publish run start test uninstall update",
        "pnpm": "add build dev exec i install run test",
        "npx": "create-react-app playwright tsc vite",
        "cargo": "add bench build check clippy doc fmt install new publish run test update",
        "go": "build fmt generate get install mod run test tool vet",
        "make": "all build check clean demo dev install lint release run test",
        "systemctl": "daemon-reload disable enable list-units reload restart start status stop",
        "service": "--status-all apache2 nginx postgresql ssh",
        "apt": "autoremove install list purge remove search show update upgrade",
        "apt-get": "autoremove install purge remove update upgrade",
        "brew": "cask install list services tap uninstall update upgrade",
        "helm": "install list repo rollback template uninstall upgrade",
        "terraform": "apply destroy fmt import init output plan state validate",
        "gh": "api auth browse issue pr release repo run workflow",
        "sessiondb": "backup doctor export import list prune rename resume search show stats verify",
    }.items()
}

_WE = r"\b(?:we|i|they|(?:the |our )?team)"

DECISION = (
    # English
    rf"{_WE}(?:'ve| have| has| had| all| both| finally)* (?:decided|agreed (?:on|to|that)|settled (?:on|for)|opted|"
    r"chose|picked|went with|concluded|are settled on)\b",
    r"\b(?:have|has|'ve) (?:decided|chosen|settled)\b",
    r"^(?:(?:ok|okay|fine|alright|right|so|then|yes|great|good)[,.:]? )*(?:then )?let'?s (?:go with|go for|use|"
    r"keep|stick|"
    r"stay with|settle|drop|take|switch|adopt|move to|do it|do option|ship|pin|make it)\b",
    r"\bwe(?:'re| are) (?:going with|sticking with|dropping|switching to|keeping)\b",
    r"\bwe(?:'ll| will) (?:go with|use|keep|stick|stay with|adopt|drop|switch|ship|migrate|move)\b",
    r"\bwe (?:won't|will not|no longer) (?:use|support|ship|keep|need|do)\b",
    r"^(?:the )?(?:final )?(?:decision|conclusion|verdict)\b *(?:is|was)?[:：]?",
    r"^agreed\b",
    r"\b(?:it was|was|were) (?:agreed|decided)\b",
    r"\b(?:from now on|going forward|as of today)\b",
    r"\bthe (?:plan|choice|decision) is (?:final|made|to)\b",
    r"^(?:chose|picked|decided|opted|went with|settled on)\b",
    # Indonesian
    r"\b(?:kita|kami|tim|saya)(?: sudah| akhirnya| telah)? (?:putuskan|memutuskan|sepakat|memilih|pilih|menyepakati)\b",
    r"\b(?:diputuskan|disepakati|keputusan(?:nya)?)\b",
    r"\b(?:jadi(?:nya)?|oke|ok|ya sudah|baik)\b,?(?: jadi)? kita (?:tetap )?(?:pakai|pilih|gunakan|memakai)\b",
    r"\bmulai (?:sekarang|hari ini)\b",
    r"\bkita (?:tetap )?(?:pakai|gunakan) .*\b(?:saja|aja)\b",
    # Chinese
    r"(?:我们|咱们|团队|大家|最后|最终|经过讨论|一致)[^。？！?!]{0,8}(?:决定|商定|确定|选定|选择了|选了|敲定|采用|同意)",
    r"^(?:结论|决定|决议|最终方案)[:：]",
    r"(?:那|好)?[,，]?就(?:用|按|选|采用|这么)[^。？?]*(?:吧|做|办|定了)",
    r"(?:以后|今后|从现在起|从今天起)[^。？?]*(?:都|一律|统一|只|不再)",
)

UNDECIDED = (
    r"[?？]\s*$",
    r"^(?:if|when|unless|whether|should|have you|did you|do you|can we|could we|shall we)\b",
    r"\b(?:if|unless|whether|until) (?:we|i|they)\b",
    r"\b(?:not|n't|never|yet to) (?:yet )?(?:decide|decided|agreed|chosen)\b",
    r"\b(?:apakah|kalau|jika|bila|belum diputuskan)\b",
    r"(?:吗|哪个|如果|要是|还没决定|是否)",
)

TODO = (
    # English
    r"\bTODO\b(?! list| app| item)(?=[:(\s]|$)(?-i:(?<=TODO))",
    r"\bFIXME\b",
    r"^[-*+] \[ \]",
    r"^(?:next steps?|follow[- ]?ups?|pending|open (?:questions?|items?|issues?|points?)|unresolved|remaining|"
    r"action items?|"
    r"still (?:open|to do)|left to do|to[- ]do|not done yet)\s*[:：]",
    r"\b(?:don't|do not|never) forget\b",
    r"\bremind me\b",
    r"\b(?:^|please )remember to\b",
    r"\bstill (?:needs?|have to|has to|must|failing|fails|broken|missing|open|to do|to be|unclear|not)\b",
    r"\b(?:is|are) still (?:failing|broken|missing|open|unclear|pending|not)\b",
    r"(?:\bnot|n't)\b[^.]*\b(?:fixed|solved|resolved|done|finished|merged|implemented|addressed|working|"
    r"deployed) yet\b",
    r"\bneeds? (?:another look|to be \w+ed|fixing|work|investigation|a test|follow[- ]?up)\b",
    r"\bI(?:'ll| will) (?:look into|check|come back|fix|investigate|follow up|get back|revisit|do (?:it|that|"
    r"this)|handle|"
    r"take care|try)\b[^.]*\b(?:later|tomorrow|next|soon|tonight|monday|tuesday|wednesday|thursday|friday|again)\b",
    r"\b(?:someone|somebody|one of us) (?:should|has to|needs to|must)\b",
    r"\bwe(?: still)? (?:should|must|need to|have to|ought to) (?:also )?(?:add|write|fix|check|update|remove|"
    r"document|test|"
    r"investigate|move|rename|migrate|delete|create|measure|clean|find out|ask|tell|rotate|backfill|review)\b",
    r"\bremains to be\b",
    r"^follow up\b",
    # Indonesian
    r"\bjangan lupa\b",
    r"\bmasih (?:perlu|harus|gagal|kurang|belum|rusak|error)\b",
    r"\bbelum (?:selesai|dibuat|diperbaiki|teratasi|beres|ada|jalan|dikerjakan|diuji)\b",
    r"\b(?:nanti|besok|minggu depan) (?:saya|aku|kita|kami)\b",
    r"\bingatkan (?:saya|aku|kami)\b",
    r"^ingat\b",
    r"\bperlu (?:dicek|diperiksa|diperbaiki|ditulis|dibuat|diuji|diselidiki|ditambah|diganti)",
    r"^(?:PR|tugas(?: berikutnya)?|langkah (?:berikutnya|selanjutnya)|sisa)\s*[:：]",
    # Chinese
    r"待办|待处理|待修复|待确认|未解决|尚未|有待",
    r"别忘了|不要忘记|记得",
    r"还(?:需要|要|得|没有|没|未|差)",
    r"仍(?:然|旧)?(?:缺|失败|没有|未|需)",
    r"(?:明天|稍后|之后|回头|下次|下周)[^。]{0,6}(?:再|看|处理|修|检查)",
    r"下一步[:：]",
    r"跟进",
)

DONE = (
    r"^[-*+] \[[xX]\]",
    r"\bnothing (?:is |was )?(?:left|missing|pending)\b",
    r"\b(?:no longer|not) (?:pending|missing)\b",
    r"\bhave you\b.*[?？]\s*$",
    r"已经(?:解决|修好|完成)",
    r"\bsudah (?:beres|selesai|diperbaiki|teratasi)\b",
)
