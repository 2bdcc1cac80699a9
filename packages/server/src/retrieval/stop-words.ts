/**
 * Closed-class function words of the larger European languages, question words and polite phrases: a query need not
 * find them, though they still count a little. Folded as tokens are (lower case, no marks, sharp s as ss).
 *
 * Left out where they are an everyday word of another of these languages: `and` is a duck in Danish, `or` gold in French,
 * `not` hardship in German, `die` and `son` are English words too. Rarer clashes are borne: the word still counts a little.
 */
const WORDS_BY_LANGUAGE: Readonly<Record<string, string>> = {
  english: `a an the of to in on at by for from with as is are was were be been am do does did has had this that these
    those it its he she they them his her hers their theirs i me my mine you your yours we us our ours what which who
    whom whose when where why how there please could would should about into`,
  german: `der das dem den des ein eine einen einem einer eines und oder im ist sind wie was wer wo wann warum welche
    welcher welches welchen ich du er sie wir ihr mich mir dich dir uns mein meine dein deine zu zum zur von vom auf
    mit bei bitte es sich auch`,
  french: `le la les un une du de des et est sont que qui quoi ou quand pourquoi quel quelle quels quelles je
    tu il elle nous vous ils elles mon ma mes ta tes ce cette ces dans pour avec sur au aux lequel qu ai`,
  spanish: `el la los las un una unos unas del y es que quien cual cuales cuando donde como yo tu ella nosotros mi
    mis su sus en por con al favor lo le se`,
  italian: `il lo gli i un uno una di del della dei delle nel nella nell e che chi cosa quale quali quando dove
    io tu lui lei noi voi mio mia suo sua per con su al alla all dal dalla si favore`,
  portuguese: `o os as um uma uns umas do da dos das no na nos nas em e que quem qual quais quando onde eu ele ela meu
    minha seu sua por para com ao pelo pela favor`,
  dutch: `het een de van en ik jij je hij zij wij jullie mijn jouw zijn haar ons onze wat wie waar wanneer waarom welke
    hoe op voor met te aan bij naar alstublieft dit dat deze`,
  swedish: `en ett och det de som jag du han hon vi ni mig oss min mitt mina din ditt dina vad vem vilken vilket
    vilka nar var varfor hur pa av fran med om har hade ar snalla`,
  danish_norwegian: `et og jeg dere deres mitt hva hvad hvem hvilken hvilket hvilke hvor hvornar hvorfor hvordan fra
    af til er vaer vennligst venligst`,
  turkish: `ve bir bu su ile icin mi mu da de sen biz siz onlar benim senin ne nedir hangi nerede nasil neden
    lutfen`,
  russian: `и в во на с со к ко у о об от до из за по не я ты он она оно мы вы они мои моя твои его ее их это этот эта
    что кто где когда почему как какои какая какое какие чеи пожалуиста`,
};

/** Function words, as tokens. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  Object.values(WORDS_BY_LANGUAGE)
    .flatMap((words) => words.split(/\s+/))
    .filter((word) => word !== ""),
);
