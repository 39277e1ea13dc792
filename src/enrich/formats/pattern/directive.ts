// The directives that say how a server writes a line: nginx's `log_format`, Apache's `LogFormat`.

import { quoted } from '../../../errors.ts'
import { wrongOption } from '../../../option-names.ts'
import { distinctNames } from '../delimited/table.ts'

/** A field of a line, and the text before it. */
export interface PatternField {
  readonly before: string
  readonly name: string
}

/** The pattern of a line: text and fields, in turn. Plain data. */
export interface Pattern {
  readonly fields: readonly PatternField[]
  /** The text after the last field. */
  readonly after: string
  /** Whether the writer pads values, so that several spaces can stand for one. */
  readonly pads: boolean
  /** Whether newer versions of the writer append fields, so that any text can follow. */
  readonly grows: boolean
}

/** Longer directives, and those with more fields, are errors. */
const MAX_CHARS = 10_000
const MAX_FIELDS = 200

/** https://httpd.apache.org/docs/2.4/mod/mod_log_config.html#formats */
const APACHE: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  (
    'a:client_ip A:local_ip b:bytes B:bytes D:duration_us f:file h:remote_host H:protocol I:bytes_received ' +
    'k:keepalives l:ident L:error_log_id m:method O:bytes_sent p:port P:process_id q:query r:request R:handler ' +
    's:status S:bytes_transferred t:time T:duration u:user U:path v:vhost V:vhost X:connection_status'
  )
    .split(' ')
    .map((each) => [each.charAt(0), each.slice(2)]),
)
/** `%h`, `%>s`, `%!200,304{Referer}i`. */
const APACHE_FIELD = /%(?:%|[<>]?(?:!?\d{3}(?:,\d{3})*)?(?:\{([^}]*)\})?(\^t[io]|[a-zA-Z]))/g
/** https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format */
const NGINX_FIELD = /\$(?:\{(\w+)\}|(\w+))/g

/**
 * Reads a directive as it stands in the configuration of nginx or Apache, whole or only its format:
 * `log_format main '$remote_addr …';`, `LogFormat "%h %l …" combined`.
 *
 * @throws TypeError when it is not one
 */
export function patternOf(directive: string): Pattern {
  if (typeof directive !== 'string' || directive.length > MAX_CHARS) {
    throw wrongOption`<logFormat> must be a text of at most ${MAX_CHARS} characters`
  }
  const format = formatOf(directive)
  const isNginx = /\$\{?[a-z_]/.test(format)
  const fields: PatternField[] = []
  let before = ''
  let end = 0
  for (const match of format.matchAll(isNginx ? NGINX_FIELD : APACHE_FIELD)) {
    before += format.slice(end, match.index)
    end = match.index + match[0].length
    if (match[0] === '%%') {
      before += '%'
      continue
    }
    const isFirst = fields.length === 0
    if (before === '' && !isFirst) {
      throw wrong(`nothing separates ${quoted(match[0])} from the field before it`)
    }
    // Apache writes brackets around its own form of a time.
    const isTime = match[0] === '%t'
    fields.push({ before: isTime ? `${before}[` : before, name: nameOf(match, isNginx) })
    before = isTime ? ']' : ''
  }
  if (fields.length === 0) throw wrong('it has no fields such as $remote_addr or %h')
  if (fields.length > MAX_FIELDS) throw wrong(`it has more than ${MAX_FIELDS} fields`)
  const names = distinctNames(fields.map(({ name }) => name))
  return {
    fields: fields.map((field, index) => ({ ...field, name: names[index] ?? '' })),
    after: before + format.slice(end),
    pads: false,
    grows: false,
  }
}

function wrong(what: string): TypeError {
  return wrongOption`<logFormat> must be a log_format of nginx or a LogFormat of Apache: ${what}`
}

/** The format in a directive, without its keyword, its name, and the quotes around it. */
function formatOf(directive: string): string {
  const text = directive.trimStart()
  if (/^log_format\s/.test(text)) {
    // nginx joins the quoted parts of a format.
    const parts = [...text.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/g)]
    return parts.map(([, single, double]) => (single ?? double ?? '').replace(/\\(['"\\])/g, '$1')).join('')
  }
  const [, apache] = /^(?:LogFormat|CustomLog\s+\S+)\s+"((?:[^"\\]|\\.)*)"/i.exec(text) ?? []
  return apache === undefined
    ? directive.replace(/\r?\n$/, '').replace(/\\"/g, '"')
    : apache.replace(/\\(["\\])/g, '$1')
}

function nameOf([text, first, second = '']: RegExpMatchArray, isNginx: boolean): string {
  if (isNginx) return first ?? second
  if (first === undefined) return APACHE.get(second) ?? text.slice(1)
  const name = first.toLowerCase().replaceAll('-', '_')
  if (second === 'a' && name === 'c') return 'peer_ip'
  if (second === 't') return 'time'
  return 'ieonC'.includes(second) ? name : (APACHE.get(second) ?? name)
}
