import { FIELD_ROLES, type FieldRole, type RequestFields } from '../options.ts'

/**
 * The names that products give to the fields of their logs and tables. This file is the only table of names: the tests
 * compare it with the field lists of 100 products.
 *
 * Names are compared in lower case and without separators: `client_ip`, `clientIp` and `client.ip` are `clientip`.
 */

/** Up to this many names at the end of a path are read as one name: `properties.client.ip`, `client.ip`, `ip`. */
const MAX_JOINED = 3

/** The weight of request headers. */
const HEADER_WEIGHT = 30

/** Names of the field with the client's address. The highest weight wins; names of one weight mean the same. */
const ADDRESS_NAMES: readonly (readonly [weight: number, names: string])[] = [
  // The client, as the program that wrote the line determined it.
  [100, 'clientip clientips clientipaddress clientipaddr clientipv4 clientipv6 cip cliip'],
  [100, 'endclientip originalclientip'],
  [99, 'enduserip userip useripaddress useripaddr visitorip visitoripaddress visitip'],
  [99, 'customerip customeripaddress viewerip browserip subscriberip commentauthorip'],
  [99, 'loginip lastloginip signinip accessdeviceip'],
  [98, 'callerip calleripaddress actorip actoripaddress requesterip requesteripaddress attackerip'],
  // The client, in formats that also have the address with its port.
  [97, 'clienthost'],
  [95, 'clientaddress clientaddr clientendpointip clientsocketaddress useraddress'],
  // The other end of the connection.
  [92, 'remoteip remoteipaddress remoteipaddr remoteipdetailsipaddressv4'],
  [90, 'remoteaddr remoteaddress addrremote raddr remip remoteaddressip4'],
  [90, 'downstreamremoteaddress remoteendpoint'],
  [88, 'remotehost remotehostip rhost'],
  // The sender of packets, which is the client of a connection.
  [82, 'idorigh origh'],
  [80, 'sourceip sourceipaddress sourceipaddr sourceipv4 srcip srcipaddr srcipaddress srcaddr srcaddress'],
  [80, 'srcendpointip srcipv4 saddr sourcenetworkaddress'],
  [79, 'sourceaddress sourceaddr'],
  [78, 'pktsrcaddr'],
  // The connection to the server itself, in products that also name the client.
  [70, 'peerip peeraddr peeraddress socketip socketpeeraddress netpeerip netsockpeeraddr networkpeeraddress'],
  [70, 'downstreamdirectremoteaddress realipremoteaddr'],
  [65, 'client remote'],
  // Names that say only that it is an address: it is the client's.
  [60, 'ip ipaddress ipaddr ipv4 ipv4address ipv6 ipv6address requestip requestipaddress'],
  [55, 'address addr'],
  [50, 'peer'],
  // A request header of one address. Callers can write it, unless a proxy replaces it.
  [HEADER_WEIGHT, 'xrealip httpxrealip cfconnectingip httpcfconnectingip trueclientip httptrueclientip'],
  [HEADER_WEIGHT, 'fastlyclientip httpfastlyclientip xclientip httpxclientip httpclientip'],
  [HEADER_WEIGHT, 'xenvoyexternaladdress flyclientip xazureclientip proxyprotocoladdr'],
]

/** Names of a field with a list of hops. Such a field is the client's only if proxies are trusted. */
const LIST_NAMES = 'xforwardedfor httpxforwardedfor forwardedfor xff csxforwardedfor forwarded httpforwarded'

/** Names that do not say whose address it is: in an inner object, the name of that object decides. */
const VAGUE_ADDRESS_NAMES =
  'ip ipaddress ipaddr ipv4 ipv4address ipv6 ipv6address address addr client remote peer'

/** Objects around the members of an event or of its author, in which a vague name means what it means outside. */
const CONTAINERS =
  'event eventdata data payload jsonpayload protopayload properties context details authdetails attributes attr ' +
  'fields params body request req http httprequest requestmetadata record log json message msg meta metadata extra ' +
  'result actor user visitor caller session geo geolocation'

/**
 * Words in the names of fields with an address, or with something that looks like one, which is not the client's. A
 * field with such a name is used only if it is named. The lists above come first: `server.client_ip` is a client's.
 */
const OTHER_WORDS =
  // The other end.
  'server servers dest destination dst daddr target upstream backend origin local laddr lip listen listener listening bind ' +
  'resp responder receiver recipient to host hostname vhost edge gateway gw lb elb alb nlb balancer loadbalancer ' +
  'balancers nat proxy proxies via node pod instance machine container cluster worker service sensor agent exporter ' +
  'collector observer device router switch interface iface hop nexthop relay mx smtp cache cdn pop colo private ' +
  'internal public elastic vip netmask mask subnet network cidr broadcast prefix range route start begin end ' +
  // Names and their answers.
  'dns answer answers rdata resolved resolver resolves nameserver nameservers ns a aaaa cname ptr query qname record ' +
  'records rr rrs response responses ttl domain ' +
  // Numbers with dots in them.
  'tag tags ver vers oid firmware fw kernel driver app sdk lib library module plugin package dependency os browser ' +
  'ua useragent section chapter clause code serial model schema revision rev patch'

/** Words that mean the same wherever they are in a name: `uaversion`. */
const OTHER_PARTS = /version|release|firmware|build|nameserver|resolver|upstream|destination|loadbalancer/

/**
 * Names of the field with the time of the event, best first. Names that are also usual for other times, such as
 * `created` for a user's account, come last.
 */
const TIME_NAMES =
  '@timestamp timestamp eventtime eventtimestamp time ts @t datetime date eventdate occurredat ' +
  'timestampms tsms timemicros timeiso8601 timelocal timeutc utctime unixtime epoch epochms msec realtimetimestamp ' +
  'requesttime requesttimestamp requestedat reqtimesec edgestarttimestamp starttime startedat startutc ' +
  'eventcreated eventstart timegenerated timecreated systemtime loggedat logtime receivedat receivetimestamp ' +
  'requestreceivedtimestamp published visitedat ' +
  'lastloginat lastlogin lastlogintime lastlogindate loginat logintime logindate loggedinat lastsigninat ' +
  'lastsignindatetime lastseenat lastseen lastvisitat lastvisit lastactivityat lastactivity lastactive ' +
  'createdat created creationtime idtime start'

/** Names that mean the time of the event even in inner objects. Others can be a certificate's or an account's time. */
const CLEAR_TIME_NAMES = '@timestamp timestamp eventtime eventtimestamp ts systemtime occurredat'

const words = (list: string): readonly string[] => list.split(' ')

const WEIGHTS: ReadonlyMap<string, number> = /* @__PURE__ */ new Map(
  ADDRESS_NAMES.flatMap(([weight, names]) => words(names).map((name): [string, number] => [name, weight])),
)
const LISTS: ReadonlySet<string> = /* @__PURE__ */ new Set(words(LIST_NAMES))
const VAGUE: ReadonlySet<string> = /* @__PURE__ */ new Set(words(VAGUE_ADDRESS_NAMES))
const AROUND: ReadonlySet<string> = /* @__PURE__ */ new Set(words(CONTAINERS))
const OTHERS: ReadonlySet<string> = /* @__PURE__ */ new Set(words(OTHER_WORDS))
const TIMES: readonly string[] = /* @__PURE__ */ words(TIME_NAMES)
const CLEAR_TIMES: ReadonlySet<string> = /* @__PURE__ */ new Set(words(CLEAR_TIME_NAMES))

/** Weight of a list of hops, when proxies are trusted: above all other names. */
const LIST_WEIGHT = 200

/** From this weight on, the program that wrote the line has determined the client. Below, it can be a proxy. */
export const CLIENT_WEIGHT = 95

/** From this weight on, a name says that the address is the client's, and not only that it is an address. */
export const CLEAR_WEIGHT = 65

/** A name in lower case, without word separators and the `$` of PostHog. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s._$-]/g, '')
}

/** The names of a path. A column of an exported log can have a whole path as its name: `jsonPayload.remoteIp`. */
function namesOf(path: readonly string[]): string[] {
  return path.flatMap((name) => name.split('.')).map(plainName)
}

/** Levels of objects around a field, itself included. */
export function depthOf(path: readonly string[]): number {
  return namesOf(path).length
}

/**
 * How surely a field has the client's address by its name; 0 for names that are not in the table. The last names of the
 * path decide.
 *
 * @param isTrusting whether proxies are trusted, so that lists of hops are preferred
 */
export function addressWeight(path: readonly string[], isTrusting: boolean): number {
  if (isListName(path)) return isTrusting ? LIST_WEIGHT : 0
  const names = namesOf(path)
  const own = names.at(-1) ?? ''
  const isClear = names.length < 2 || !VAGUE.has(own) || AROUND.has(names.at(-2) ?? '')
  const considered = isClear ? [own] : []
  for (let count = 2; count <= Math.min(MAX_JOINED, names.length); count++) {
    considered.push(names.slice(-count).join(''))
  }
  return Math.max(0, ...considered.map((name) => WEIGHTS.get(name) ?? 0))
}

/** Whether a field has the usual name of a list of hops, such as `X-Forwarded-For`. */
export function isListName(path: readonly string[]): boolean {
  return LISTS.has(namesOf(path).at(-1) ?? '')
}

/** Whether a field has the name of a request header with the client's address alone, such as `X-Real-IP`. */
export function isHeaderName(path: readonly string[]): boolean {
  return addressWeight(path, false) === HEADER_WEIGHT
}

/** Whether a column with this name usually holds the client's address. */
export function isAddressName(name: string): boolean {
  return addressWeight([name], false) > 0
}

/** Whether the name of a field says that it has something else than the client's address. */
export function isOtherName(path: readonly string[]): boolean {
  return path.slice(-2).some((name) => {
    const separate = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase()
    return OTHER_PARTS.test(plainName(name)) || separate.split(/[^a-z]+/).some((word) => OTHERS.has(word))
  })
}

/** Whether the name of a field says that it has the address to which packets or requests went. */
export function isTargetName(path: readonly string[]): boolean {
  return /dst|dest(?!roy)|daddr|resph|target/.test(namesOf(path).slice(-MAX_JOINED).join(''))
}

/**
 * Ranks a field as the time of the event. The lowest rank is the best; unusual names get Infinity. Outer members rank
 * before inner ones, whatever their names.
 */
export function timeRank(path: readonly string[]): number {
  // MongoDB writes a time as an object (Extended JSON), `t` in its own logs.
  if (path.length > 1 && path.at(-1) === '$date')
    return timeRank(path.length === 2 && path[0] === 't' ? ['ts'] : path.slice(0, -1))
  const own = plainName(path.at(-1) ?? '')
  const considered = [plainName(path.slice(-2).join('')), ...(CLEAR_TIMES.has(own) ? [own] : [])]
  const ranks = considered.map((name) => TIMES.indexOf(name)).filter((rank) => rank >= 0)
  return Math.min(...ranks) + path.length * TIMES.length
}

/**
 * The names that a product gives to the fields of a request, in the order of {@link FIELD_ROLES}; `-` for none. Of several for one role,
 * with bars between them, the first that records have is used. Only names that belong together: a lone `status` or `method` can
 * be anything. Dots lead into inner objects; after a slash they are a part of the name.
 */
const PRODUCTS: readonly string[] = [
  // Caddy
  'status request.method request.uri size',
  // Traefik
  'DownstreamStatus RequestMethod RequestPath DownstreamContentSize request_User-Agent request_Referer',
  // Elastic Common Schema: Filebeat, ingress-nginx; and its names with dots in them
  'http.response.status_code http.request.method url.path|url.original ' +
    'http.response.body.bytes|http.response.bytes user_agent.original http.request.referrer',
  '/http.response.status_code /http.request.method /url.path|/url.original ' +
    '/http.response.body.bytes|/http.response.bytes /user_agent.original /http.request.referrer',
  // Cloudflare Logpush
  'EdgeResponseStatus ClientRequestMethod ClientRequestPath|ClientRequestURI ' +
    'EdgeResponseBytes ClientRequestUserAgent ClientRequestReferer',
  // The variables of nginx
  'status request_method request_uri|uri body_bytes_sent|bytes_sent http_user_agent http_referer|http_referrer',
  // Envoy
  'response_code method path bytes_sent user_agent',
  // Load balancers of Google Cloud
  'httpRequest.status httpRequest.requestMethod httpRequest.requestUrl ' +
    'httpRequest.responseSize httpRequest.userAgent httpRequest.referer',
  // Zeek
  'status_code method uri response_body_len user_agent referrer',
  // Kong
  'response.status request.method request.uri ' +
    'response.size request.headers.user-agent request.headers.referer',
  // Azure: Front Door, Application Gateway
  'properties.httpStatusCode properties.httpMethod properties.requestUri ' +
    'properties.responseBytes properties.userAgent properties.referer',
  'properties.httpStatus properties.httpMethod properties.requestUri ' +
    'properties.sentBytes properties.userAgent properties.referer',
  // API Gateway of AWS
  'status httpMethod path|resourcePath responseLength userAgent',
  // Fastly
  'response_status request_method url response_body_size request_user_agent request_referer',
  // DataStream of Akamai, whose paths have no slash at their start
  'statusCode reqMethod - bytes UA referer',
  // Pino
  'res.statusCode req.method req.url - req.headers.user-agent req.headers.referer',
  // What geofix makes of access logs; Rails with lograge, GitLab
  'status method target|path|uri|url bytes|size user_agent referrer|referer',
]

/** The names of the W3C Extended Log File Format, which mean one thing only. */
const W3C = 'sc-status cs-method cs-uri-stem sc-bytes cs(User-Agent) cs(Referer)'
/** The fields of patterns. */
const PATTERN =
  'status|elb_status_code request_method|method request_uri|uri|url|request_target|target ' +
  'body_bytes_sent|bytes_sent|sent_bytes|bytes http_user_agent|user_agent http_referer|referer|referrer'

/** What values of a role look like. nginx writes 000 or 0 if a client went away before an answer. */
const VALUES: Readonly<Record<FieldRole, RegExp>> = {
  status: /^(?:0|000|[1-9]\d\d)$/,
  method: /^[A-Z][A-Z_-]{1,31}$/,
  path: /^(?:[/*]|https?:\/\/)/,
  bytes: /^\d{1,15}$/,
  referrer: /\S/,
  agent: /\S/,
}

/**
 * Finds the fields of requests in a sample. All values that the sample has in a field must look like those of its role, and
 * one record must have a status and a method.
 *
 * @param valuesOf the value of a field in each record, `undefined`, `null` or '' for none; no values if no record has the field
 */
export function requestFieldsIn(valuesOf: (field: string) => readonly unknown[]): RequestFields {
  const fits = (field: string, role: FieldRole): boolean => {
    const values = valuesOf(field).filter((value) => !isMissing(value))
    return values.length > 0 && values.every((value) => isLike(value, role))
  }
  for (const product of PRODUCTS) {
    const [status = '', method = ''] = product.split(' ')
    const methods = valuesOf(method)
    const hasBoth = valuesOf(status).some((value, record) => !isMissing(value) && !isMissing(methods[record]))
    if (hasBoth && fits(status, 'status') && fits(method, 'method')) return fieldsOf(product, fits)
  }
  return {}
}

/**
 * Finds the fields of requests in a sample of a W3C log. Scans have odd methods, so most values of a field must look like those of
 * its role. IIS writes the commands of FTP under the same names: these are no requests.
 *
 * @param names of all fields
 * @param valuesOf all values that the sample has in a field
 */
export function w3cRequestFields(
  names: readonly string[],
  valuesOf: (field: string) => readonly string[],
): RequestFields {
  const fits = (field: string, role: FieldRole): boolean => {
    const values = valuesOf(field).filter((value) => !isMissing(value))
    return values.filter((value) => !isLike(value, role)).length * 2 <= values.length
  }
  if (!fits('cs-method', 'method')) return {}
  return fieldsOf(W3C, (field, role) => names.includes(field) && fits(field, role))
}

/**
 * The fields of requests in a log that a pattern writes.
 *
 * @param hasServer whether `target` is the server that got a request, and not its path
 */
export function patternRequestFields(names: readonly string[], hasServer: boolean): RequestFields {
  return fieldsOf(PATTERN, (field) => names.includes(field) && !(hasServer && field === 'target'))
}

/** The fields of a product: of each role the first that fits. */
function fieldsOf(product: string, fits: (field: string, role: FieldRole) => boolean): RequestFields {
  const names = product.split(' ').map((each) => each.split('|'))
  const found = FIELD_ROLES.map((role, index) => [role, names[index]?.find((name) => fits(name, role))])
  return Object.fromEntries(found.filter(([, name]) => name !== undefined))
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === '-'
}

function isLike(value: unknown, role: FieldRole): boolean {
  return (typeof value === 'string' || typeof value === 'number') && VALUES[role].test(String(value))
}
