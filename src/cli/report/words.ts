// The headings of the report, in the languages of the names in the embedded databases.
import { html, type Markup } from './markup.ts'

/** The headings in English. */
const HEADINGS = {
  timeline: 'Lines over time',
  map: 'Where the lines come from',
  countries: 'Countries',
  regions: 'Regions',
  cities: 'Cities',
  hours: 'Local time of day',
  outcome: 'Outcome of the lines',
  callers: 'Addresses',
  networks: 'Networks',
  systems: 'Network owners',
  requests: 'Requests',
  pages: 'Pages',
  notFound: 'Not found',
  databases: 'The database',
  days: 'Addresses by day',
  assets: 'Files of pages',
  referrers: 'Referring sites',
  browsers: 'Browsers',
  operatingSystems: 'Operating systems',
  crawlers: 'Crawlers and programs',
} as const

/** The heading of a card, in the language of the report. */
export type Heading = (name: keyof typeof HEADINGS) => Markup

/** The headings in other languages, in the same order. */
const TEXTS: Readonly<Record<string, string>> = {
  de: `
    Zeilen im Zeitverlauf; Woher die Zeilen kommen; Länder; Regionen; Städte; Ortszeit;
    Ergebnis der Zeilen; Adressen; Netze; Netzbetreiber; Anfragen; Seiten; Nicht gefunden;
    Die Datenbank; Adressen je Tag; Dateien der Seiten; Verweisende Websites; Browser; Betriebssysteme;
    Crawler und Programme
  `,
  es: `
    Líneas a lo largo del tiempo; De dónde vienen las líneas; Países; Regiones; Ciudades;
    Hora local del día; Resultado de las líneas; Direcciones; Redes; Operadores de red; Solicitudes;
    Páginas; No encontradas; La base de datos; Direcciones por día; Archivos de las páginas;
    Sitios de referencia; Navegadores; Sistemas operativos; Rastreadores y programas
  `,
  fr: `
    Lignes au fil du temps; D’où viennent les lignes; Pays; Régions; Villes; Heure locale;
    Résultat des lignes; Adresses; Réseaux; Opérateurs de réseau; Requêtes; Pages; Introuvables;
    La base de données; Adresses par jour; Fichiers des pages; Sites référents; Navigateurs;
    Systèmes d’exploitation; Robots et programmes
  `,
  ja: `
    時系列の行数; 行の発信元; 国; 地域; 都市; 現地時刻; 行の結果; アドレス; ネットワーク; ネットワーク事業者; リクエスト; ページ; 見つからないページ; データベース;
    日別アドレス数; ページのファイル; 参照元サイト; ブラウザ; オペレーティングシステム; クローラーとプログラム
  `,
  pt: `
    Linhas ao longo do tempo; De onde vêm as linhas; Países; Regiões; Cidades; Hora local do dia;
    Resultado das linhas; Endereços; Redes; Operadoras de rede; Solicitações; Páginas; Não encontradas;
    O banco de dados; Endereços por dia; Arquivos das páginas; Sites de referência; Navegadores;
    Sistemas operacionais; Rastreadores e programas
  `,
  ru: `
    Строки по времени; Откуда приходят строки; Страны; Регионы; Города; Местное время суток;
    Результат по строкам; Адреса; Сети; Владельцы сетей; Запросы; Страницы; Не найдено; База данных;
    Адреса по дням; Файлы страниц; Ссылающиеся сайты; Браузеры; Операционные системы;
    Поисковые роботы и программы
  `,
  zh: `
    按时间的行数; 行的来源; 国家; 地区; 城市; 当地时间; 行的结果; 地址; 网络; 网络运营商; 请求; 页面; 未找到; 数据库; 每日地址数; 页面文件; 来源网站; 浏览器;
    操作系统; 爬虫与程序
  `,
}

/** The headings in the language of a BCP 47 tag; in English if the report does not have the language. */
export function headingsIn(locale = 'en'): Heading {
  const { language } = new Intl.Locale(locale)
  const words = TEXTS[language]?.split(';').map((text) => text.trim())
  const lang = words === undefined ? 'en' : language
  const names = Object.keys(HEADINGS)
  return (name) => html`<h2 lang="${lang}">${words?.[names.indexOf(name)] ?? HEADINGS[name]}</h2>`
}
