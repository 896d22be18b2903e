"""The words by which `kinds.py` tells commands, decisions and open items: English, Indonesian, Chinese.

Cues are looked for in lower case. Those of a `Cues` stand at the beginning of a sentence, at the beginning of a word,
or anywhere, where there are no blanks.
"""

from __future__ import annotations

from typing import NamedTuple

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


class Cues(NamedTuple):
    begins: tuple[str, ...]
    words: tuple[str, ...]
    unspaced: tuple[str, ...]


_WE = r"(?:we|i|they|team|committee|board|clients?|customers?|boss|managers?|management|company|group)"
_KEEP = r"(?:use|stay|stick|keep|drop|adopt|support|switch|move|migrate|ship|go with)"
_OK = r"(?:(?:ok|okay|fine|alright|right|so|then|yes|great|good)[,.:]? )*"
_JOB = (
    r"(?:add|write|fix|check|update|remove|document|test|investigate|move|rename|migrate|delete|create|measure|clean|"
    r"find out|ask|tell|rotate|backfill|review|revisit|rethink|drop|replace|renew|upgrade|clean up|look (?:at|into))"
)

DECISION = Cues(
    begins=(
        rf"{_OK}(?:then )?let(?:'?s| us) (?:just |simply |all )?(?:go with|go for|use|keep|stick|stay with|settle|drop|"
        r"take|switch|adopt|move to|do it|do option|ship|pin|make it)\b",
        r"(?:(?:the|our|my) )?(?:final )?(?:decision|conclusion|verdict)\b *(?:is|was)?[:：]?",
        r"(?:the |our |my )?final (?:call|choice|word)\b *(?:is|was|:)",
        rf"{_OK}(?:the )?(?:outcome|consensus|winner)\b *(?:is|was|:)",
        r"(?:in the end|ultimately|eventually),? (?:we|i|they)(?:'ll| will)? "
        r"(?:\w+ed|kept|chose|went|took|use|keep)\b",
        r"(?:our|my) (?:choice|pick) (?:is|was|fell on)\b",
        r"(?:ok|okay|fine|alright|right|so|then|yes|great|good|well)\b.{1,40}"
        r"(?<!what)(?<!how)(?<!where)(?<!who)(?<!\bas)(?<!than)(?<!that) it is(?: then)?[.!]*$",
        rf"{_OK}(?:agreed|settled|decided|deal|final answer)\b",
        r"(?:chose|picked|opted|went with|settled on|landed on|ended up with|going with)\b",
        r"(?:policy|rule|convention) *:",
        r"(?:(?:oke|ok|baik|ya sudah|ya|sip|jadi(?:nya)?)[, ]+)+(?:kita (?:tetap )?)?"
        r"(?:pakai|pilih|gunakan|memakai|ambil)\b",
        r"(?:结论|决定|决议|最终方案)[:：]",
        r"[^，,。]{0,6}(?:结论|决议|决定|最终方案)是",
    ),
    words=(
        rf"{_WE}(?:'ve| have| has| had| all| both| finally)* (?:decided|agreed (?:on|to|that)|settled (?:on|for)|opted|"
        r"chose|picked|went with|gone with|concluded|are settled on|ruled out|"
        r"voted (?:to|for|against)|landed on|made up (?:my|our|their) minds?|"
        r"ended up (?:with|choosing|picking|using))\b",
        r"(?:have|has|ve) (?:decided|chosen|settled)\b",
        r"(?:we(?:'re| are)|i(?:'m| am)) "
        r"(?:going (?:ahead )?with|sticking with|dropping|switching to|keeping|(?:moving|migrating)(?: \w+){0,3} to|"
        rf"going to {_KEEP}|not going to (?!(?:be|need|know|get|have)\b)\w+)\b",
        r"(?:we|i)(?:'ll| will) (?:go (?:ahead )?with|stick|stay with|adopt|drop|take the)\b",
        r"we(?:'ll| will) (?:use|keep|switch|ship|migrate|move)\b",
        r"(?:so|then|therefore|hence) we (?:keep|use|drop|skip|stay|take|leave)\b",
        r"we take the\b",
        r"we (?:won't|will not|no longer) (?:use|support|ship|keep|need|do)\b",
        r"(?:was|were) (?:agreed|decided)\b",
        r"(?:from now on|going forward|as of today)\b",
        r"the (?:plan|choice|decision) is (?:final|made|to)\b",
        r"(?:vetoed|signed off on|ruled out|in favou?r of)\b",
        r"(?:kita|kami|tim|saya|aku)(?: sudah| akhirnya| telah| jadi)* "
        r"(?:putuskan|memutuskan|sepakat|memilih|pilih|menyepakati|ambil)\b",
        r"(?:diputuskan|disepakati|keputusan(?:nya)?)\b",
        r"mulai (?:sekarang|hari ini)\b",
        r"pilihan(?:nya)? (?:akhirnya )?jatuh\b",
        r"(?:kita|kami) akan (?:tetap )?(?:pakai|memakai|gunakan|menggunakan|pindah|beralih)\b",
        r"(?:akhirnya|jadinya) (?:kita |kami |saya )?(?:pakai|memakai|pilih|memilih|ambil|pindah)\b",
        r"(?:kita|kami|saya) (?:jadi (?:pakai|memakai|pilih|ambil)|lanjut dengan)\b",
        r"kita (?:tetap )?(?:pakai|gunakan) .*\b(?:saja|aja)\b",
        r"tetap (?:dipakai|digunakan|memakai|menggunakan)\b",
        r"(?:tidak|nggak|gak|tak) jadi (?:pindah|pakai|ganti|beli|dipakai)\b",
    ),
    unspaced=(
        r"(?:我|我们|咱们|团队|大家|老板|领导|经理|客户|最后|最终|经过讨论|一致)[^。？！?!]{0,8}"
        r"(?:决定|商定|确定|选定|选择了|选了|敲定|采用|同意|定了|说好|商量好|拍板)",
        r"(?:综合考虑|权衡之后|比较之后|讨论完|讨论后|商量之后)[^。？?]*(?:选|用|留|保持|改|放弃|定)",
        r"(?:那|好)?[,，]?就(?:用|按|选|采用|这么)[^。？?]*(?:吧|做|办|定了|方案|版)",
        r"我(?:们)?(?:最后|最终)?(?:选择|选定|选)了",
        r"(?:以后|今后|从现在起|从今天起)[^。？?]*(?:都|一律|统一|只|不再)",
        r"(?:讨论|会议|投票|商量|最终|最后)的?(?:结果|结论)(?:是|为|[:：])",
        r"那?就定(?:在|为|了|下)",
        r"我们[^。？?]{0,6}不再(?:支持|使用|用|维护|提供)",
    ),
)

UNDECIDED = Cues(
    begins=(
        r"(?:if|when|unless|whether|should|have you|did you|do you|can we|could we|shall we)\b",
        r".*[?？]\s*$",
    ),
    words=(
        r"(?:if|unless|whether|until) (?:we|i|they)\b",
        r"(?:not|never|yet to) (?:yet )?(?:decide|decided|agreed|chosen)\b",
        r"\w+n't (?:yet )?(?:decide|decided|agreed|chosen)\b",
        r"(?:apakah|kalau|jika|bila|belum diputuskan)\b",
    ),
    unspaced=(r"吗|哪个|如果|要是|还没决定|决定不了|无法决定|不能决定|是否",),
)

TODO = Cues(
    begins=(
        r"[-*+] \[ \]",
        r"(?:the )?next steps? (?:is|are|would be) to\b",
        r"(?:next steps?|follow[- ]?ups?|pending|open (?:questions?|items?|issues?|points?)|unresolved|remaining|"
        r"action items?|still (?:open|to do)|left to do|to[- ]do|not done yet)\s*[:：]",
        r"follow up\b",
        rf"(?:need|have) to {_JOB}\b",
        r"(?:tbd|tbc|left open|open|outstanding|backlog)\s*[:：]",
        r"blocked (?:on|by)\b",
        r"waiting (?:on|for) (?!an? )",
        r"next up\b",
        rf"(?:please|(?:can|could) you(?: please)?) {_JOB}\b[^.]*\b(?:later|tomorrow|next|soon|tonight|afterwards)\b",
        r"remember to\b",
        r"ingat\b",
        r"(?:pr|tugas(?: berikutnya)?|langkah (?:berikutnya|selanjutnya)|sisa)\s*[:：]",
    ),
    words=(
        r"fixme\b",
        r"(?:don't|do not|never) forget\b",
        r"remind me\b",
        r"(?:only |just )?half[- ](?:done|finished|written|way (?:done|through))\b|unfinished\b",
        r"(?:never|not|\w+n't) (?:got|gotten|get) (?:around )?to\b",
        r"ran out of time\b",
        r"(?:is|are) (?:waiting (?:on|for)|blocked (?:on|by)|pending)\b",
        r"for (?:the )?next (?:sprint|release|version|iteration|round|time)\b",
        r"(?:is|are|remains?) (?:still )?(?:unexplained|unresolved|unclear|undecided|unsolved|untested)\b",
        r"still (?:unexplained|unresolved|undecided|unsolved|untested)\b",
        r"(?:isn't|aren't|is not|are not) (?:done|finished|complete|ready)\b(?! (?:by|with|in)\b)",
        r"must (?:still )?be "
        r"(?:removed|fixed|replaced|cleaned|rewritten|refactored|reverted|addressed|resolved|documented)\b",
        r"yet to (?:be |do |write |test |fix )",
        r"i(?:'ll| will) get to\b",
        r"come back to (?:this|that|it|the)\b[^.]*\b(?:later|tomorrow|next|soon)\b",
        r"(?:would|might) be (?:good|nice|better|useful) to\b[^.]*\b(?:at some point|some day|later|eventually)\b",
        r"(?:nobody|no one|none of us) (?:has|have) \w+ed\b[^.]*\b(?:so far|yet)\b",
        r"(?:haven't|have not|hasn't|has not) had (?:the )?time\b",
        r"please remember to\b",
        r"still (?:needs?|have to|has to|must|failing|fails|broken|missing|open|to do|to be|unclear|not)\b",
        r"(?:is|are) still (?:there|happening|failing|broken|missing|open|unclear|pending|not)\b",
        r"(?:not|\w+n't)\b[^.]*\b(?:fixed|solved|resolved|done|finished|merged|implemented|addressed|working|deployed|"
        r"tested|checked|reviewed|documented|written) yet\b",
        r"(?:has|have) no (?:tests?|docs|documentation|owner|answer)\b[^.]*\byet\b",
        r"(?:haven't|have not|hasn't|has not) (?:yet )?"
        r"(?:looked|checked|tested|fixed|reviewed|tried|written|answered)\b",
        r"(?:left|is|are|wait) for (?:tomorrow|later|next week|another day)\b",
        r"(?:postponed|deferred|parked|on hold)\b",
        r"(?:is|are) missing[.!]?$",
        r"(?:has|have) to be (?:\w+ed|written|rewritten|redone)\b",
        r"needs? (?:another look|to be \w+ed|fixing|work|investigation|a test|follow[- ]?up)\b",
        r"i(?:'ll| will) (?!(?:be|see|have|meet) )\w+\b[^.]*"
        r"\b(?:later|tomorrow|next|soon|tonight|monday|tuesday|wednesday|thursday|friday|again)\b",
        r"(?:someone|somebody|one of us) (?:should|has to|needs to|must)\b",
        rf"we(?: still)? (?:should|must|need to|have to|ought to) (?:also )?{_JOB}\b",
        r"remains to be\b",
        r"jangan lupa\b",
        r"masih (?:perlu|harus|gagal|kurang|belum|rusak|error)\b",
        r"belum (?:selesai|teratasi|beres|ada|jalan|sempat|jelas|di\w+)\b",
        r"(?:nanti|besok|minggu depan) (?:saya|aku|kita|kami|tolong|harus)\b",
        r"ingatkan (?:saya|aku|kami)\b",
        r"(?:baru )?setengah (?:jalan|jadi|selesai)\b",
        r"menyusul (?:nanti|besok|minggu depan|bulan depan|kemudian)\b",
        r"(?:kita|kami|saya|aku|ini|itu) (?:masih )?(?:harus|perlu) (?:me|di)\w{3,}",
        r"menunggu (?:jawaban|balasan|kabar|persetujuan|konfirmasi|tinjauan|keputusan)\b",
        r"perlu di\w+",
        r"tinggal (?:me|di)\w{3,}",
    ),
    unspaced=(
        r"待办|待处理|待修复|待确认|未解决|尚未|有待",
        r"别忘了|不要忘记|记得",
        r"还(?:需要|要|得|没有|没|未|差)",
        r"仍(?:然|旧)?(?:缺|失败|没有|未|需)",
        r"(?:明天|稍后|之后|回头|下次|下周)[^。]{0,6}(?:再|看|处理|修|检查)",
        r"(?:有空|有时间|以后|改天)再|先(?:放着|搁置|不管)|搁置",
        r"还有[^。]{0,12}(?:没|未)",
        r"(?:明天|周末|下周|下个月)[^。]{0,4}(?:需要|要|得|必须)",
        r"下一步(?:[:：]|要|是)",
        r"提醒我",
        r"跟进",
        r"(?:暂时|目前)(?:还)?(?:没有|没|未)[^。]{0,4}(?:结论|结果|定论|答复)",
        r"(?:需要|有必要|应该|得)(?:补充|完善|更新|修复|修改|重构|优化|确认|检查|测试|处理|清理|调整|有人)",
        r"(?:以后|将来|后面)(?:还?要|得|需要)(?:重构|重写|改|修|补|处理|优化|加|测|换)",
        r"等[^。]{0,10}(?:后|之后|以后)再",
        r"还剩",
        r"(?:后续|接下来|之后)(?:还)?(?:要|需要|得|再)",
        r"(?:仍|还)(?:然)?不(?:清楚|明确|确定)",
        r"(?:明天|下周|下次|稍后|之后)[^。]{0,4}继续",
    ),
)

DONE = Cues(
    begins=(r"[-*+] \[x\]", r".*\bhave you\b.*[?？]\s*$"),
    words=(
        r"nothing (?:is |was )?(?:left|missing|pending)\b",
        r"(?:no longer|not) (?:pending|missing)\b",
        r"sudah (?:beres|selesai|diperbaiki|teratasi)\b",
    ),
    unspaced=(r"已经(?:解决|修好|完成)",),
)
