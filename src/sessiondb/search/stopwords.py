"""Words that say how something is asked, not what about, in six languages; folded as `analyze` folds.

A stop word of one language is a name in another (`bin`, `mit`, `die`, `com`): only the list of the language that the
question seems to be in counts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

_ENGLISH = """
    a about after again ago all also am an and any are aren as at be because been before being but by can cannot could
    couldn d did didn do does doesn doing don done each else ever few find for found from further get give given go
    going gone got had hadn has hasn have haven having he her here hers him his how i if in into is isn it its just
    know last let ll m make may me might mine more most much must my no nor not now of off on once one only or other
    our ours out over own please put re really remember s said same say see shall she should shouldn show so some
    something such t take tell than that the their them then there these they thing things think this those thought
    through time to too under until up upon us use used using ve very want wanted was wasn way we were weren what when
    where whether which while who whom whose why will with won would wouldn yes yet you your yours
"""
_INDONESIAN = """
    ada adalah agar akan aku anda apa apakah atau bagaimana bagi bahwa banyak beberapa begitu belum berapa bila bisa
    boleh buat bukan cara cuma dalam dan dapat dari dengan di dia dong dulu gak gimana gue hanya harus ini itu jadi
    jangan jika juga kalau kalian kami kamu kan kapan karena kayak ke kemarin kenapa kepada ketika kita kok lagi lah
    lalu lebih lewat mana masih mau mengapa mereka namun nanti nggak oleh pada pakai pake para pernah pun saat saja
    sama sampai sangat saya sebelum seberapa sebuah sedang sekali sekarang seperti sering serta sesudah setelah si
    siapa sih soal suatu sudah supaya tadi tapi telah tentang terhadap tersebut tetapi tidak tolong udah untuk ya
    yaitu yang
"""
_GERMAN = """
    ab aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis bist da
    damals damit dann daran darauf das dass dein deine dem den denn der des dessen die dies diese diesem diesen dieser
    dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch fur gab gegen gehabt geht gewesen
    gibt gleich habe haben hast hat hatte hatten hier hin hinter ich ihm ihn ihr ihre im in ins ist ja jede jeder
    jetzt kann kein keine konnen konnte machen macht mal man mehr mein meine mich mir mit muss nach nicht nichts noch
    nun nur ob oder ohne schon sehr sein seine seit sich sie sind so soll sollte uber um und uns unser unsere unter
    vom von vor wann war waren warum was weg weil welche welchem welchen welcher welches wenn wer werden wessen wie
    wieder wieso wir wird wo wofur womit woran worden wurde wurden zu zum zur zwischen
"""
_SPANISH = """
    a al algo alguna algunas alguno algunos ante antes aqui asi aun aunque cada como con contra cual cuales cuando
    cuanta cuanto cuantos de del desde donde dos e el ella ellas ellos en entonces entre era eran es esa esas ese eso
    esos esta estaba estado estamos estan estar estas este esto estos estuvo fue fueron ha habia habiamos hace hacer
    hacia han has hasta hay he hemos hicimos hizo hoy la las le les lo los mas me mi mis mucho muy nada ni no nos
    nosotros nuestra nuestro o os otra otro para pero poco por porque pudo puede que quien quienes se sea ser si sido
    sin sobre solo son su sus suya tambien tan tanto te tenemos tenia tiene todo todos tu tus un una unas uno unos
    usamos vez y ya yo
"""
_FRENCH = """
    a ai aie au aucun aussi autre aux avait avant avec avez avoir avons c ca car ce cela ces cet cette ceux chez comme
    comment d dans de depuis des deux dire dit dois doit donc dont du elle elles en encore entre es est et etaient
    etait ete etes etre eu eux faire fait faut fut ici il ils j je jusqu l la le les leur leurs lors lui m ma mais me
    meme mes mis moi mon n ne ni nos notre nous on ont ou par parce pas peu peut plus pour pourquoi pouvait puis qu
    quand que quel quelle quelles quelque quels qui quoi s sa sans se sera ses si son sont sous sur t ta te tes toi
    ton tous tout toute toutes tres tu un une va vers voici voila vos votre vous y
"""
_PORTUGUESE = """
    a ainda algum alguma algumas alguns ao aos aquela aquele aquilo as ate cada com como da das de dela dele deles
    demais depois desde do dos e ela elas ele eles em entao entre era eram essa esse esta estamos estao estar estava
    este estou eu faz fazer fez fizemos foi fomos for foram ha isso isto ja lhe mais mas me mesmo meu meus minha muito
    muitos na nao nas nem no nos nossa nosso num numa o onde os ou outra outro para pela pelas pelo pelos pode podemos
    por porque pra quais qual quando quanto quantos que quem sao se seja sem ser seu seus so sobre sua suas tambem te
    tem temos tendo tenho ter tinha toda todas todo todos tu tudo um uma umas uns usamos vai voce voces
"""

LANGUAGES = tuple(
    frozenset(words.split()) for words in (_ENGLISH, _INDONESIAN, _GERMAN, _SPANISH, _FRENCH, _PORTUGUESE)
)


def among(words: Sequence[str]) -> Collection[str]:
    """The stop words of the language, or languages, that most of the words belong to."""
    counts = [sum(word in language for word in words) for language in LANGUAGES]
    most = max(counts)
    likely = [language for language, count in zip(LANGUAGES, counts, strict=True) if count == most > 0]
    return frozenset().union(*likely)
