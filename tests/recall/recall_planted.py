"""Twenty conversations, each with a fact, and three questions for it: two in its words, one without any of them."""

from __future__ import annotations

from typing import NamedTuple


class Planted(NamedTuple):
    name: str
    turns: tuple[str, ...]
    fact: str
    exact: tuple[str, str]
    paraphrased: str


PLANTED = (
    Planted(
        "proxy",
        ("The staging proxy refuses connections again.", "I looked: the staging proxy listens on 8443, not on 443.",
         "Ah, that explains it."),
        "listens on 8443",
        ("On which port does the staging proxy listen?", "staging proxy 8443"),
        "what number do I type after the colon to reach the test gateway",
    ),
    Planted(
        "dentist",
        ("Can you note my dentist appointment?", "Noted: dentist on 14 March at half past nine, Dr Weber.", "Thanks!"),
        "14 March at half past nine",
        ("When is my dentist appointment?", "dentist Dr Weber March"),
        "what time must I have my teeth looked at",
    ),
    Planted(
        "licence",
        ("Under which terms do we publish the parser?", "We decided to publish the parser under the Apache licence.",
         "Good, then the notice file stays."),
        "under the Apache licence",
        ("Which licence did we decide on for the parser?", "parser published Apache licence"),
        "legal conditions of our open source grammar library",
    ),
    Planted(
        "restore",
        ("How did we restore the orders table?",
         "With `pg_restore --table=orders --clean nightly.dump`; it took eleven minutes.", "Perfect."),
        "pg_restore --table=orders",
        ("How was the orders table restored?", "pg_restore orders nightly.dump"),
        "command that brought our purchases back from the backup",
    ),
    Planted(
        "wifi",
        ("The guests ask for the wifi name.", "The guest wifi is called Kolibri-5G; it changes every quarter.", "Ok."),
        "Kolibri-5G",
        ("What is the guest wifi called?", "guest wifi name quarter"),
        "wireless network for visitors",
    ),
    Planted(
        "retries",
        ("Payments are sent twice when the bank is slow.",
         "Fixed: the client now retries with an idempotency key, at most three times.", "And the timeout?",
         "Twelve seconds."),
        "retries with an idempotency key",
        ("How does the client retry payments when the bank is slow?", "idempotency key payments sent twice"),
        "stopped the duplicate charges by",
    ),
    Planted(
        "bread",
        ("My sourdough is flat.", "Use 72 percent water and let it rest eighteen hours in the fridge.", "I will try."),
        "72 percent water",
        ("How much water goes into the sourdough?", "sourdough rest hours fridge"),
        "hydration of the loaf and cold fermentation time",
    ),
    Planted(
        "gudang",
        ("Kunci gudang cadangan disimpan di mana?",
         "Kunci gudang cadangan ada di laci ketiga meja resepsionis.", "Baik, terima kasih."),
        "laci ketiga meja resepsionis",
        ("Di mana kunci gudang cadangan disimpan?", "kunci cadangan laci resepsionis"),
        "bagaimana membuka pintu tempat barang kalau yang asli hilang",
    ),
    Planted(
        "pajak",
        ("Kapan batas lapor pajak toko?", "Batas lapor pajak toko tanggal 20 setiap bulan, lewat aplikasi e-Faktur.",
         "Oke."),
        "tanggal 20 setiap bulan",
        ("Kapan batas lapor pajak toko kita?", "lapor pajak e-Faktur"),
        "tenggat menyetor kewajiban ke negara",
    ),
    Planted(
        "vendor",
        ("Vendor kemasan mana yang kita pilih?",
         "Kita putuskan memakai vendor kemasan Sinar Jaya karena ada di Bandung.", "Setuju."),
        "Sinar Jaya",
        ("Vendor kemasan mana yang diputuskan?", "vendor kemasan Bandung"),
        "pemasok kardus kita siapa",
    ),
    Planted(
        "kamera",
        ("Kamera parkir mati lagi.", "Kamera parkir hidup lagi setelah firmware 4.2.7 dipasang ulang.", "Mantap."),
        "firmware 4.2.7",
        ("Bagaimana kamera parkir hidup lagi?", "firmware kamera parkir"),
        "versi perangkat lunak yang memperbaiki cctv halaman",
    ),
    Planted(
        "resep",
        ("Berapa lama rendang Ibu dimasak?", "Rendang Ibu dimasak empat jam dengan api kecil dan dua liter santan.",
         "Pantas enak."),
        "empat jam dengan api kecil",
        ("Berapa lama rendang Ibu dimasak?", "rendang santan api kecil"),
        "durasi menyiapkan daging pedas keluarga",
    ),
    Planted(
        "server",
        ("Di mana log kasir disimpan?", "Log kasir disimpan di /var/log/kasir/transaksi.log dan dirotasi tiap Minggu.",
         "Sip."),
        "/var/log/kasir/transaksi.log",
        ("Di mana log kasir disimpan?", "/var/log/kasir"),
        "berkas catatan penjualan ada di folder apa",
    ),
    Planted(
        "kereta",
        ("Kereta ke Solo jam berapa?", "Kereta Argo ke Solo berangkat 06.45 dari Gambir, kursi 7C.", "Catat ya."),
        "06.45 dari Gambir",
        ("Jam berapa kereta ke Solo berangkat?", "kereta Argo Gambir kursi"),
        "perjalanan pagi saya naik sepur dan tempat duduknya",
    ),
    Planted(
        "数据库",
        ("订单数据库的备份放在哪里？", "订单数据库的备份放在杭州机房的三号存储上。", "好的。"),
        "杭州机房的三号存储",
        ("订单数据库的备份放在哪里", "备份 杭州机房"),
        "万一东西丢了应该去什么地方找回来",
    ),
    Planted(
        "方案",
        ("登录用哪种方案？", "我们决定登录采用短信验证码，不再用密码。", "同意。"),
        "采用短信验证码",
        ("登录采用哪种方案", "登录 短信验证码"),
        "用户怎样证明自己的身份",
    ),
    Planted(
        "会议",
        ("周会改到什么时候？", "周会改到每周四下午三点，在二楼小会议室。", "收到。"),
        "每周四下午三点",
        ("周会改到什么时候", "周会 小会议室"),
        "团队定期碰头的新时间",
    ),
    Planted(
        "端口",
        ("支付服务的端口是多少？", "支付服务的端口是 9443，健康检查走 9444。", "记下了。"),
        "端口是 9443",
        ("支付服务的端口是多少", "支付服务 9443"),
        "收款程序监听哪个数字",
    ),
    Planted(
        "面条",
        ("奶奶的面条汤怎么做？", "奶奶的面条汤先用猪骨熬两个小时，再放三片姜。", "谢谢。"),
        "猪骨熬两个小时",
        ("奶奶的面条汤怎么做", "面条汤 猪骨"),
        "老人家那碗热食的秘诀",
    ),
    Planted(
        "发布",
        ("发布之前要跑什么命令？", "发布之前要跑 `make release-check`，大概四分钟。", "明白。"),
        "make release-check",
        ("发布之前要跑什么命令", "make release-check 发布"),
        "上线前必须执行的检查步骤",
    ),
)  # fmt: skip

# Talk in the same words, about other things.
CHATTER = (
    ("The staging environment was quiet today.", "Yes, no proxy errors since noon.", "Which port is the printer on?"),
    ("Does the dentist take cards?", "I do not know.", "I will ask in March."),
    ("The parser is slow on long lines.", "Cut them at 4096 characters.", "That helped the parser."),
    ("How many orders came in?", "About two hundred, the table grew a little.", "Thanks."),
    ("Guests arrive at six.", "I will put their name on the door.", "And the wifi?", "They will ask."),
    ("The bank holiday moves the payments.", "Then they are sent on Tuesday.", "Fine."),
    ("Bread prices went up.", "Water too, every quarter of the year.", "Hm."),
    ("Gudang lama dijual.", "Kunci sudah diserahkan ke pembeli.", "Bagus."),
    ("Toko tutup tanggal 1.", "Laporan pajak menyusul.", "Baik."),
    ("Kemasan baru lebih tipis.", "Vendor bilang bahan sama.", "Kita lihat nanti."),
    ("Parkir penuh tadi pagi.", "Kamera menunjukkan dua mobil asing.", "Catat nomornya."),
    ("Ibu datang hari Minggu.", "Masak apa?", "Rendang atau soto."),
    ("Kasir baru mulai Senin.", "Log masuknya sudah dibuat.", "Sip."),
    ("Solo hujan terus.", "Kereta tetap jalan.", "Syukurlah."),
    ("订单今天少了一些。", "数据库的查询也快了。", "好。"),
    ("登录页面换了颜色。", "方案是设计部的。", "可以。"),
    ("周会取消一次。", "大家去看房子了。", "哈哈。"),
    ("支付宝今天维护。", "服务晚上恢复。", "好的。"),
    ("奶奶问你吃饭没有。", "吃了面条。", "好。"),
    ("命令行的颜色太暗。", "发布说明里有办法。", "谢谢。"),
)
