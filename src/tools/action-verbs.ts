/** Verbs that descriptions of tools use, in their plain form. */
export const ACTION_VERBS: ReadonlySet<string> = new Set(
  [
    'accept add analyze append apply approve archive ask assign attach bind book build buy calculate call cancel',
    'change check choose classify clean clear click close collect compare compile compose compute configure',
    'connect convert copy count create cut decode decrypt define delete deliver deploy describe detect diff',
    'disable display divide download draw edit embed enable encode encrypt end ensure estimate evaluate execute',
    'expand explain explore export extract fetch fill filter find fix follow forecast format forward generate get',
    'give give grant grep group guess hash hide identify import index inform insert inspect install invite issue',
    'join keep kill label launch list load locate lock log look make map mark match measure merge modify monitor',
    'mount move multiply navigate notify obtain offer open order organize parse patch pause pay perform pick place',
    'plan play plot post predict prepare present press print process produce provide publish pull push put query',
    'rank read receive recommend record reduce refresh register reject release remove rename render reopen repeat',
    'replace reply report request reserve reset resize resolve restart restore resume retrieve return reverse',
    'revert review roll rotate round run sample save scan schedule score scroll search select send set share show',
    'shorten sign simulate solve sort split start stop store submit subscribe subtract suggest sum summarize',
    'suspend switch sync take tell test toggle track transcribe transfer transform translate trigger trim turn',
    'type undo unlock unpack update upload use validate verify view visit wait watch write zip',
  ].flatMap((line) => line.split(' ')),
)
