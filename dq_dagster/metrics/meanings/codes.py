"""Codes and names by standard: countries, currencies, languages, lengths of IBANs, US states."""

from __future__ import annotations

# Each: alpha-2 code, alpha-3 code, the English short name of ISO 3166-1 (without a closing
# "(the)"), and other English names in wide use, apart by slashes.
_COUNTRIES = """
AD AND Andorra; AE ARE United Arab Emirates; AF AFG Afghanistan; AG ATG Antigua and Barbuda;
AI AIA Anguilla; AL ALB Albania; AM ARM Armenia; AO AGO Angola; AQ ATA Antarctica;
AR ARG Argentina; AS ASM American Samoa; AT AUT Austria; AU AUS Australia; AW ABW Aruba;
AX ALA Åland Islands/Aland Islands; AZ AZE Azerbaijan; BA BIH Bosnia and Herzegovina;
BB BRB Barbados; BD BGD Bangladesh; BE BEL Belgium; BF BFA Burkina Faso; BG BGR Bulgaria;
BH BHR Bahrain; BI BDI Burundi; BJ BEN Benin; BL BLM Saint Barthélemy/Saint Barthelemy;
BM BMU Bermuda; BN BRN Brunei Darussalam/Brunei;
BO BOL Bolivia (Plurinational State of)/Bolivia, Plurinational State of/Bolivia;
BQ BES Bonaire, Sint Eustatius and Saba/Caribbean Netherlands; BR BRA Brazil; BS BHS Bahamas;
BT BTN Bhutan; BV BVT Bouvet Island; BW BWA Botswana; BY BLR Belarus; BZ BLZ Belize;
CA CAN Canada; CC CCK Cocos (Keeling) Islands/Cocos Islands;
CD COD Congo (Democratic Republic of the)/Congo, Democratic Republic of the
/Democratic Republic of the Congo;
CF CAF Central African Republic; CG COG Congo/Republic of the Congo; CH CHE Switzerland;
CI CIV Côte d'Ivoire/Cote d'Ivoire/Ivory Coast; CK COK Cook Islands; CL CHL Chile;
CM CMR Cameroon; CN CHN China; CO COL Colombia; CR CRI Costa Rica; CU CUB Cuba;
CV CPV Cabo Verde/Cape Verde; CW CUW Curaçao/Curacao; CX CXR Christmas Island; CY CYP Cyprus;
CZ CZE Czechia/Czech Republic; DE DEU Germany; DJ DJI Djibouti; DK DNK Denmark; DM DMA Dominica;
DO DOM Dominican Republic; DZ DZA Algeria; EC ECU Ecuador; EE EST Estonia; EG EGY Egypt;
EH ESH Western Sahara; ER ERI Eritrea; ES ESP Spain; ET ETH Ethiopia; FI FIN Finland; FJ FJI Fiji;
FK FLK Falkland Islands (Malvinas)/Falkland Islands;
FM FSM Micronesia (Federated States of)/Micronesia, Federated States of/Micronesia;
FO FRO Faroe Islands; FR FRA France; GA GAB Gabon;
GB GBR United Kingdom of Great Britain and Northern Ireland/United Kingdom/Great Britain;
GD GRD Grenada; GE GEO Georgia; GF GUF French Guiana; GG GGY Guernsey; GH GHA Ghana;
GI GIB Gibraltar; GL GRL Greenland; GM GMB Gambia; GN GIN Guinea; GP GLP Guadeloupe;
GQ GNQ Equatorial Guinea; GR GRC Greece; GS SGS South Georgia and the South Sandwich Islands;
GT GTM Guatemala; GU GUM Guam; GW GNB Guinea-Bissau; GY GUY Guyana; HK HKG Hong Kong;
HM HMD Heard Island and McDonald Islands; HN HND Honduras; HR HRV Croatia; HT HTI Haiti;
HU HUN Hungary; ID IDN Indonesia; IE IRL Ireland; IL ISR Israel; IM IMN Isle of Man; IN IND India;
IO IOT British Indian Ocean Territory; IQ IRQ Iraq;
IR IRN Iran (Islamic Republic of)/Iran, Islamic Republic of/Iran; IS ISL Iceland; IT ITA Italy;
JE JEY Jersey; JM JAM Jamaica; JO JOR Jordan; JP JPN Japan; KE KEN Kenya; KG KGZ Kyrgyzstan;
KH KHM Cambodia; KI KIR Kiribati; KM COM Comoros; KN KNA Saint Kitts and Nevis;
KP PRK Korea (Democratic People's Republic of)/Korea, Democratic People's Republic of/North Korea;
KR KOR Korea (Republic of)/Korea, Republic of/Republic of Korea/South Korea; KW KWT Kuwait;
KY CYM Cayman Islands; KZ KAZ Kazakhstan; LA LAO Lao People's Democratic Republic/Laos;
LB LBN Lebanon; LC LCA Saint Lucia; LI LIE Liechtenstein; LK LKA Sri Lanka; LR LBR Liberia;
LS LSO Lesotho; LT LTU Lithuania; LU LUX Luxembourg; LV LVA Latvia; LY LBY Libya; MA MAR Morocco;
MC MCO Monaco; MD MDA Moldova (Republic of)/Moldova, Republic of/Republic of Moldova/Moldova;
ME MNE Montenegro; MF MAF Saint Martin (French part)/Saint Martin; MG MDG Madagascar;
MH MHL Marshall Islands; MK MKD North Macedonia; ML MLI Mali; MM MMR Myanmar/Burma;
MN MNG Mongolia; MO MAC Macao/Macau; MP MNP Northern Mariana Islands; MQ MTQ Martinique;
MR MRT Mauritania; MS MSR Montserrat; MT MLT Malta; MU MUS Mauritius; MV MDV Maldives;
MW MWI Malawi; MX MEX Mexico; MY MYS Malaysia; MZ MOZ Mozambique; NA NAM Namibia;
NC NCL New Caledonia; NE NER Niger; NF NFK Norfolk Island; NG NGA Nigeria; NI NIC Nicaragua;
NL NLD Netherlands; NO NOR Norway; NP NPL Nepal; NR NRU Nauru; NU NIU Niue; NZ NZL New Zealand;
OM OMN Oman; PA PAN Panama; PE PER Peru; PF PYF French Polynesia; PG PNG Papua New Guinea;
PH PHL Philippines; PK PAK Pakistan; PL POL Poland; PM SPM Saint Pierre and Miquelon;
PN PCN Pitcairn/Pitcairn Islands; PR PRI Puerto Rico;
PS PSE Palestine, State of/State of Palestine/Palestine; PT PRT Portugal; PW PLW Palau;
PY PRY Paraguay; QA QAT Qatar; RE REU Réunion/Reunion; RO ROU Romania; RS SRB Serbia;
RU RUS Russian Federation/Russia; RW RWA Rwanda; SA SAU Saudi Arabia; SB SLB Solomon Islands;
SC SYC Seychelles; SD SDN Sudan; SE SWE Sweden; SG SGP Singapore;
SH SHN Saint Helena, Ascension and Tristan da Cunha/Saint Helena; SI SVN Slovenia;
SJ SJM Svalbard and Jan Mayen; SK SVK Slovakia; SL SLE Sierra Leone; SM SMR San Marino;
SN SEN Senegal; SO SOM Somalia; SR SUR Suriname; SS SSD South Sudan; ST STP Sao Tome and Principe;
SV SLV El Salvador; SX SXM Sint Maarten (Dutch part)/Sint Maarten;
SY SYR Syrian Arab Republic/Syria; SZ SWZ Eswatini/Swaziland; TC TCA Turks and Caicos Islands;
TD TCD Chad; TF ATF French Southern Territories; TG TGO Togo; TH THA Thailand; TJ TJK Tajikistan;
TK TKL Tokelau; TL TLS Timor-Leste/East Timor; TM TKM Turkmenistan; TN TUN Tunisia; TO TON Tonga;
TR TUR Türkiye/Turkiye/Turkey; TT TTO Trinidad and Tobago; TV TUV Tuvalu;
TW TWN Taiwan (Province of China)/Taiwan, Province of China/Taiwan;
TZ TZA Tanzania, United Republic of/United Republic of Tanzania/Tanzania; UA UKR Ukraine;
UG UGA Uganda; UM UMI United States Minor Outlying Islands;
US USA United States of America/United States; UY URY Uruguay; UZ UZB Uzbekistan;
VA VAT Holy See/Vatican City; VC VCT Saint Vincent and the Grenadines;
VE VEN Venezuela (Bolivarian Republic of)/Venezuela, Bolivarian Republic of/Venezuela;
VG VGB Virgin Islands (British)/Virgin Islands, British/British Virgin Islands;
VI VIR Virgin Islands (U.S.)/Virgin Islands, U.S./US Virgin Islands/U.S. Virgin Islands;
VN VNM Viet Nam/Vietnam; VU VUT Vanuatu; WF WLF Wallis and Futuna; WS WSM Samoa; YE YEM Yemen;
YT MYT Mayotte; ZA ZAF South Africa; ZM ZMB Zambia; ZW ZWE Zimbabwe
"""


def _country_entries() -> list[tuple[str, str, str]]:
    table = _COUNTRIES.replace("\n/", "/").replace("\n", " ")
    rows = [row.strip().split(" ", 2) for row in table.split(";")]
    return [(alpha_2, alpha_3, names) for alpha_2, alpha_3, names in rows]


COUNTRY_ALPHA_2 = frozenset(alpha_2 for alpha_2, _, _ in _country_entries())
COUNTRY_ALPHA_3 = frozenset(alpha_3 for _, alpha_3, _ in _country_entries())
COUNTRY_NAMES = frozenset(name for _, _, names in _country_entries() for name in names.split("/"))


# With the codes withdrawn since 2021 (ANG, BGN, CUC, HRK, SLL, ZWL), which recent data still hold.
CURRENCY_CODES = frozenset(
    """
AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP
BYN BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB
EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD
JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU
MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD
RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY
TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB XBC XBD
XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER ZAR ZMW ZWG ZWL
""".split()
)


_IBAN_LENGTHS = """
AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18
DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23
IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27
MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19
SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30
"""
IBAN_LENGTHS = {entry[:2]: int(entry[2:]) for entry in _IBAN_LENGTHS.split()}


LANGUAGE_ALPHA_2 = frozenset(
    """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de
dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id
ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu
lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu
rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr
ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
""".split()
)
# Where a language has two codes, both are here: deu and ger.
LANGUAGE_ALPHA_3 = frozenset(
    """
aar abk ace ach ada ady afa afh afr ain aka akk alb ale alg alt amh ang anp apa ara arc arg arm
arn arp art arw asm ast ath aus ava ave awa aym aze bad bai bak bal bam ban baq bas bat bej bel
bem ben ber bho bih bik bin bis bla bnt bod bos bra bre btk bua bug bul bur byn cad cai car cat
cau ceb cel ces cha chb che chg chi chk chm chn cho chp chr chu chv chy cmc cnr cop cor cos cpe
cpf cpp cre crh crp csb cus cym cze dak dan dar day del den deu dgr din div doi dra dsb dua dum
dut dyu dzo efi egy eka ell elx eng enm epo est eus ewe ewo fan fao fas fat fij fil fin fiu fon
fra fre frm fro frr frs fry ful fur gaa gay gba gem geo ger gez gil gla gle glg glv gmh goh gon
gor got grb grc gre grn gsw guj gwi hai hat hau haw heb her hil him hin hit hmn hmo hrv hsb hun
hup hye iba ibo ice ido iii ijo iku ile ilo ina inc ind ine inh ipk ira iro isl ita jav jbo jpn
jpr jrb kaa kab kac kal kam kan kar kas kat kau kaw kaz kbd kha khi khm kho kik kin kir kmb kok
kom kon kor kos kpe krc krl kro kru kua kum kur kut lad lah lam lao lat lav lez lim lin lit lol
loz ltz lua lub lug lui lun luo lus mac mad mag mah mai mak mal man mao map mar mas may mdf mdr
men mga mic min mis mkd mkh mlg mlt mnc mni mno moh mon mos mri msa mul mun mus mwl mwr mya myn
myv nah nai nap nau nav nbl nde ndo nds nep new nia nic niu nld nno nob nog non nor nqo nso nub
nwc nya nym nyn nyo nzi oci oji ori orm osa oss ota oto paa pag pal pam pan pap pau peo per phi
phn pli pol pon por pra pro pus que raj rap rar roa roh rom ron rum run rup rus sad sag sah sai
sal sam san sas sat scn sco sel sem sga sgn shn sid sin sio sit sla slk slo slv sma sme smi smj
smn smo sms sna snd snk sog som son sot spa sqi srd srn srp srr ssa ssw suk sun sus sux swa swe
syc syr tah tai tam tat tel tem ter tet tgk tgl tha tib tig tir tiv tkl tlh tli tmh tog ton tpi
tsi tsn tso tuk tum tup tur tut tvl twi tyv udm uga uig ukr umb und urd uzb vai ven vie vol vot
wak wal war was wel wen wln wol xal xho yao yap yid yor ypk zap zbl zen zgh zha zho znd zul zun
zxx zza
""".split()
)


_US_STATES = """
AL Alabama; AK Alaska; AZ Arizona; AR Arkansas; CA California; CO Colorado; CT Connecticut;
DE Delaware; DC District of Columbia; FL Florida; GA Georgia; HI Hawaii; ID Idaho; IL Illinois;
IN Indiana; IA Iowa; KS Kansas; KY Kentucky; LA Louisiana; ME Maine; MD Maryland; MA Massachusetts;
MI Michigan; MN Minnesota; MS Mississippi; MO Missouri; MT Montana; NE Nebraska; NV Nevada;
NH New Hampshire; NJ New Jersey; NM New Mexico; NY New York; NC North Carolina; ND North Dakota;
OH Ohio; OK Oklahoma; OR Oregon; PA Pennsylvania; RI Rhode Island; SC South Carolina;
SD South Dakota; TN Tennessee; TX Texas; UT Utah; VT Vermont; VA Virginia; WA Washington;
WV West Virginia; WI Wisconsin; WY Wyoming
"""
_US_STATE_ENTRIES = [row.strip().split(" ", 1) for row in _US_STATES.replace("\n", " ").split(";")]

US_STATE_CODES = frozenset(code for code, _ in _US_STATE_ENTRIES)
US_STATE_NAMES = frozenset(name for _, name in _US_STATE_ENTRIES)
