"""User agents as servers see them, and texts that are none by the grammar of RFC 9110."""

AGENTS = (
    # Browsers on computers
    (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/126.0.0.0 Safari/537.36"
    ),
    (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/125.0.0.0 Safari/537.36 Edg/125.0.2535.92"
    ),
    (
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
        "Version/17.4.1 Safari/605.1.15"
    ),
    "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:109.0) Gecko/20100101 Firefox/115.0",
    (
        "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/126.0.0.0 Safari/537.36"
    ),
    (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/124.0.0.0 Safari/537.36 OPR/110.0.0.0"
    ),
    "Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko",
    "Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0)",
    "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1; .NET CLR 1.1.4322)",
    "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 5.1; Trident/4.0; (R1 1.6); InfoPath.2)",
    "Opera/9.80 (Windows NT 6.1; U; en) Presto/2.8.131 Version/11.11",
    "Opera/9.80 (Android; Opera Mini/36.2.2254/119.132; U; id) Presto/2.12.423 Version/12.16",
    "Mozilla/5.0 (X11; U; Linux i686; en-US; rv:1.8.1.6) Gecko/20070802 SeaMonkey/1.1.4",
    "Mozilla/5.0 (compatible; Konqueror/4.14; Linux) KHTML/4.14.13 (like Gecko)",
    (
        "Mozilla/5.0 (Windows NT 6.1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/109.0.0.0 "
        "Safari/537.36 Vivaldi/5.6"
    ),
    (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/538.15 (KHTML, like Gecko) Epiphany/3.18 "
        "Safari/538.15"
    ),
    "Lynx/2.8.9rel.1 libwww-FM/2.14 SSL-MM/1.4.1 GNUTLS/3.6.13",
    "Links (2.21; Linux 5.4.0 x86_64; GNU C 9.3; text)",
    "ELinks (0.4pre5; Linux 2.4.24 i686; 132x33)",
    "w3m/0.5.3+git20230121",
    "NCSA_Mosaic/2.0 (Windows 3.1)",
    "NetSurf/3.10 (Linux)",
    # Browsers on phones, tablets, consoles and televisions
    (
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/126.0.0.0 Mobile Safari/537.36"
    ),
    (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 "
        "(KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
    ),
    (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 16_6 like Mac OS X) AppleWebKit/605.1.15 "
        "(KHTML, like Gecko) CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1"
    ),
    (
        "Mozilla/5.0 (iPad; CPU OS 12_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
        "Mobile/15E148"
    ),
    (
        "Mozilla/5.0 (Linux; Android 13; SAMSUNG SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) "
        "SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36"
    ),
    "Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0",
    (
        "Mozilla/5.0 (Linux; U; Android 4.0.3; de-de; Galaxy S II Build/GRJ22) AppleWebKit/534.30 "
        "(KHTML, like Gecko) Version/4.0 Mobile Safari/534.30"
    ),
    (
        "Mozilla/5.0 (Linux; Android 9; SM-J730G; wv) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Version/4.0 Chrome/90.0.4430.210 Mobile Safari/537.36"
    ),
    (
        "UCWEB/2.0 (MIDP-2.0; U; Adr 4.4.4; en-US; XT1022) U2/1.0.0 UCBrowser/10.6.0.706 U2/1.0.0 "
        "Mobile"
    ),
    "BlackBerry9000/4.6.0.167 Profile/MIDP-2.0 Configuration/CLDC-1.1 VendorID/102",
    "Nokia6100/1.0 (04.01) Profile/MIDP-1.0 Configuration/CLDC-1.0",
    "SonyEricssonK800i/R1KG Browser/NetFront-3.3 Profile/MIDP-2.0 Configuration/CLDC-1.1",
    (
        "Mozilla/5.0 (PlayStation; PlayStation 5/2.26) AppleWebKit/605.1.15 (KHTML, like Gecko) "
        "Version/13.0 Safari/605.1.15"
    ),
    (
        "Mozilla/5.0 (Nintendo Switch; WifiWebAuthApplet) AppleWebKit/606.4 (KHTML, like Gecko) "
        "NF/6.0.1.16.10 NintendoBrowser/5.1.0.20923"
    ),
    (
        "Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/94.0.4606.128 Safari/537.36 WebAppManager"
    ),
    "Roku/DVP-12.0 (12.0.0.4182-88)",
    # Bots
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Googlebot/2.1 (+http://www.google.com/bot.html)",
    "Googlebot-Image/1.0",
    "AdsBot-Google (+http://www.google.com/adsbot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
    "Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)",
    "DuckDuckBot/1.1 (+http://duckduckgo.com/duckduckbot.html)",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "facebookcatalog/1.0",
    "Twitterbot/1.0",
    "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
    "TelegramBot (like TwitterBot)",
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "Slack-ImgProxy (+https://api.slack.com/robots)",
    "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
    "WhatsApp/2.23.20.0 A",
    "Pinterest/0.2 (+https://www.pinterest.com/bot.html)",
    (
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; "
        "+https://openai.com/gptbot)"
    ),
    "CCBot/2.0 (https://commoncrawl.org/faq/)",
    "ia_archiver (+http://www.alexa.com/site/help/webmasters; crawler@alexa.com)",
    "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
    "Applebot/0.1",
    "UptimeRobot/2.0",
    "Datadog/Synthetics",
    # Programs and applications
    "curl/8.5.0",
    "curl/7.19.7 (x86_64-redhat-linux-gnu) libcurl/7.19.7 NSS/3.27.1 zlib/1.2.3",
    "Wget/1.21.4",
    "python-requests/2.32.3",
    "Python-urllib/3.11",
    "Python/3.10 aiohttp/3.8.4",
    "Go-http-client/2.0",
    "Java/1.8.0_151",
    "Apache-HttpClient/4.5.13 (Java/11.0.16)",
    "okhttp/4.12.0",
    "axios/1.6.7",
    "node-fetch/1.0 (+https://github.com/bitinn/node-fetch)",
    "PostmanRuntime/7.36.3",
    "insomnia/8.6.1",
    "libwww-perl/6.67",
    "Dart/3.2 (dart:io)",
    "Dalvik/2.1.0 (Linux; U; Android 9; SM-J730G Build/PPR1.180610.011)",
    "CFNetwork/1494.0.7 Darwin/23.4.0",
    "MobileSafari/8617.1.17.10.9 CFNetwork/1490.0.4 Darwin/23.2.0",
    "AppleCoreMedia/1.0.0.21F79 (iPhone; U; CPU OS 17_5 like Mac OS X; en_us)",
    (
        "Instagram 123.0.0.21.114 Android (28/9; 420dpi; 1080x2094; samsung; SM-G960F; starlte; "
        "samsungexynos9810; en_US; 188791674)"
    ),
    (
        "Instagram 10.26.0 (iPhone7,2; iOS 10_1_1; en_US; en-US; scale=2.00; 750x1334) "
        "AppleWebKit/420+"
    ),
    "Snapchat/10.77.5.59 (iPhone; iOS 13.3; gzip)",
    "Spotify/8.8.12 Android/30 (SM-G960F)",
    "VLC/3.0.20 LibVLC/3.0.20",
    "Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17328; Pro)",
    "git/2.43.0",
    "Debian APT-HTTP/1.3 (2.6.1)",
    "pip/24.0",
    "aws-sdk-java/2.20.0 Linux/5.10 OpenJDK_64-Bit_Server_VM/17.0.6+10 Java/17.0.6",
    "S3Console/0.4",
    "kube-probe/1.29",
    "ELB-HealthChecker/2.0",
    "GoogleHC/1.0",
    "Prometheus/2.45.0",
)

NO_AGENTS = (
    "Hello, world",
    "Is this a browser?",
    "Please call us: we answer",
    "the quick brown fox; it jumps",
    "the quick brown fox jumps over the lazy dog",
    '"Mozilla/5.0"',
    "<b>Mozilla/5.0</b>",
    "<script>alert(1)</script>",
    "Mozilla/5.0 <b>x</b>",
    "user-agent: Mozilla/5.0",
    "User-Agent:curl/8.0",
    '{"browser": "Chrome"}',
    "https://example.com/",
    "someone@example.com",
    # By the RFC these are products, and so would be every word
    "okhttp",
    "unknown",
    "N.A.",
    # Seen, and yet no field values of RFC 9110
    "Slackbot 1.0(+https://api.slack.com/robots)",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 16_0 like Mac OS X) Mobile/15E148 [FBAN/FBIOS;FBLC/de]",
    "Baiduspider+(+http://www.baidu.com/search/spider.htm)",
    "Feedfetcher-Google; (+http://www.google.com/feedfetcher.html)",
    "Mozilla/5.0 (Windows NT 10.0",
    "Mozilla/5.0 Windows NT 10.0)",
)
