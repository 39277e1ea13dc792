import { describe, expect, it } from 'vitest'
import { makePlan } from '../../../src/enrich/formats/formats.ts'
import { addressWeight, isListName, isOtherName, timeRank } from '../../../src/enrich/reading/known-names.ts'
import { utf8 } from '../world.ts'

/**
 * The fields of products that hold addresses, and a few others, as the products document them. The client's comes first;
 * `?` before the name says that it must be named, because the product's name for it says too little.
 */
const PRODUCTS: readonly (readonly [product: string, fields: string])[] = [
  [
    'Elastic (ECS), web',
    'client.ip source.ip source.address client.address server.ip host.ip destination.ip',
  ],
  ['Elastic (ECS), network', 'source.ip destination.ip observer.ip host.ip source.nat.ip destination.nat.ip'],
  ['Elastic (ECS), flat columns', 'client.ip server.ip host.ip url.domain'],
  ['Filebeat nginx module', 'source.ip source.address host.ip'],
  ['Elastic APM', 'client.ip host.ip'],
  ['OCSF, HTTP activity', 'src_endpoint.ip dst_endpoint.ip device.ip'],
  ['OpenTelemetry HTTP', 'client.address server.address network.peer.address network.local.address'],
  ['OpenTelemetry, before 1.20', 'http.client_ip net.peer.ip net.host.ip net.sock.peer.addr'],
  ['Splunk CIM, web', 'src_ip dest_ip dest'],
  ['Splunk access_combined', 'clientip'],
  ['Datadog', 'network.client.ip network.destination.ip host'],
  ['Datadog, exported columns', '@network.client.ip @network.destination.ip Host'],
  ['GCP load balancer', 'httpRequest.remoteIp httpRequest.serverIp'],
  ['GCP load balancer, exported columns', 'httpRequest.remoteIp httpRequest.serverIp jsonPayload.backendIp'],
  ['GCP Cloud Armor', 'jsonPayload.remoteIp httpRequest.serverIp'],
  ['GCP audit', 'protoPayload.requestMetadata.callerIp'],
  ['GCP VPC flows', 'jsonPayload.connection.src_ip jsonPayload.connection.dest_ip'],
  ['GCP firewall', 'jsonPayload.connection.src_ip jsonPayload.connection.dest_ip jsonPayload.instance.ip'],
  ['GCP DNS', 'jsonPayload.sourceIP jsonPayload.rdata jsonPayload.serverIp'],
  ['Google Workspace', 'ipAddress'],
  ['AWS CloudTrail', 'sourceIPAddress'],
  ['AWS VPC flow logs', 'srcaddr dstaddr'],
  ['AWS VPC flow logs 5', 'srcaddr dstaddr pkt_srcaddr pkt_dstaddr'],
  ['AWS ALB, Athena', 'client_ip target_ip'],
  ['AWS NLB, Athena', 'client_ip destination_ip'],
  ['AWS WAF', 'httpRequest.clientIp'],
  ['AWS S3, Athena', 'remoteip'],
  ['AWS CloudFront', 'c-ip x-forwarded-for x-edge-location'],
  ['AWS CloudFront, Athena', 'request_ip x_forwarded_for'],
  ['AWS API Gateway', 'ip integrationIp'],
  ['AWS API Gateway, identity', 'identity.sourceIp'],
  ['AWS Route 53 resolver', 'srcaddr answers.Rdata'],
  [
    'AWS GuardDuty',
    'service.action.networkConnectionAction.remoteIpDetails.ipAddressV4 resource.instanceDetails.privateIpAddress',
  ],
  ['Azure activity', 'callerIpAddress'],
  ['Azure sign-ins', 'properties.ipAddress'],
  ['Azure application gateway', 'properties.clientIP properties.serverRouted'],
  ['Azure front door', 'properties.clientIp properties.socketIp properties.originIp'],
  ['Azure app service', 'CIp ComputerName SIp'],
  ['Azure log analytics', 'clientIp_s serverRouted_s'],
  ['Azure application insights', 'client_IP'],
  ['Azure firewall', 'SourceIP DestinationIP'],
  ['Microsoft 365 audit', 'ClientIP ActorIpAddress'],
  ['Microsoft Defender', 'RemoteIP LocalIP'],
  ['Windows security events', 'EventData.IpAddress Hostname'],
  ['Sysmon', 'SourceIp DestinationIp'],
  ['IIS', 'c-ip s-ip'],
  ['Cloudflare Logpush', 'ClientIP EdgeServerIP OriginIP'],
  ['Cloudflare gateway', 'SourceIP DestinationIP ResolvedIPs'],
  ['Cloudflare audit', 'ActorIP'],
  ['Cloudflare Access', 'IPAddress'],
  ['Fastly', 'client_ip server_ip fastly_client_ip'],
  ['Akamai DataStream', 'cliIP edgeIP xForwardedFor'],
  ['Vercel log drains', 'proxy.clientIp'],
  ['Netlify', 'client_ip'],
  ['bunny.net', 'RemoteIp ServerIp'],
  ['nginx, JSON', 'remote_addr server_addr upstream_addr http_x_forwarded_for'],
  ['nginx, behind a proxy', 'remote_addr realip_remote_addr http_x_real_ip upstream_addr'],
  ['Kubernetes ingress-nginx, JSON', 'remote_addr proxyUpstreamAddr x_forwarded_for'],
  ['Apache, JSON', 'remoteIP localIP'],
  ['Apache, fluentd', '?host'],
  ['Caddy', 'request.client_ip request.remote_ip'],
  ['Caddy 2.4', 'request.remote_addr'],
  ['Traefik', 'ClientHost ClientAddr ServiceAddr'],
  [
    'Envoy',
    'downstream_remote_address downstream_local_address upstream_host upstream_local_address x_forwarded_for',
  ],
  ['Istio', 'downstream_remote_address upstream_host x_forwarded_for requested_server_name'],
  ['Linkerd', 'client.addr server.addr'],
  ['Kong', 'client_ip upstream_ip'],
  ['HAProxy, JSON', 'client_ip frontend_ip backend_ip server_ip'],
  ['Varnish', 'remote_addr server_ip'],
  ['Squid', 'client_address server_address'],
  ['Heroku and lograge', 'remote_ip ip'],
  ['Suricata', 'src_ip dest_ip'],
  ['Zeek connections', 'id.orig_h id.resp_h'],
  ['Zeek notices', 'id.orig_h id.resp_h src dst'],
  ['Snort', 'src_addr dst_addr'],
  ['Fortinet', 'srcip dstip transip'],
  ['Palo Alto', '?src dst natsrc natdst'],
  ['Check Point', '?src dst origin'],
  ['pfSense', 'src_ip dst_ip'],
  ['Sophos', 'src_ip dst_ip'],
  ['CrowdStrike', 'RemoteAddressIP4 LocalAddressIP4'],
  ['Cisco Umbrella', 'source_ip destination_ip'],
  ['Okta', 'client.ipAddress'],
  ['Auth0', 'data.ip data.details.request.ip'],
  ['Auth0, flat', 'ip'],
  ['OneLogin', 'ipaddr'],
  ['Duo', 'access_device.ip auth_device.ip'],
  ['JumpCloud', 'client_ip'],
  ['Keycloak', 'ipAddress'],
  ['Keycloak, admin events', 'authDetails.ipAddress'],
  ['Teleport', 'addr.remote addr.local'],
  ['HashiCorp Vault', 'request.remote_address'],
  ['Tailscale flows', '?src dst'],
  ['GitHub audit', 'actor_ip'],
  ['GitLab', 'remote_ip meta.remote_ip'],
  ['GitLab workhorse', 'remote_ip remote_addr'],
  ['Gitea audit', 'ip_address'],
  ['Slack audit', 'context.ip_address'],
  ['1Password', 'client.ip_address'],
  ['Salesforce', 'CLIENT_IP'],
  ['Sentry', 'user.ip_address'],
  ['Stripe', 'client_ip'],
  ['Shopify orders', 'browser_ip'],
  ['WooCommerce', 'customer_ip_address'],
  ['Magento', 'remote_ip x_forwarded_for'],
  ['PostHog', 'properties.$ip'],
  ['Matomo', 'visitIp'],
  ['Snowplow', 'user_ipaddress'],
  ['Segment', 'context.ip'],
  ['Mailgun', 'event-data.ip event-data.envelope.sending-ip'],
  ['SendGrid', 'ip'],
  ['Postmark', 'Geo.IP'],
  ['Discourse', 'ip_address'],
  ['WordPress comments', 'comment_author_IP'],
  ['phpBB', 'user_ip'],
  ['Moodle', 'ip'],
  ['Nextcloud', 'remoteAddr version'],
  ['Laravel sessions', 'ip_address'],
  ['Django', 'REMOTE_ADDR SERVER_ADDR'],
  ['Express, pino', 'req.remoteAddress res.localAddress'],
  ['Spring and Tomcat', 'remoteAddr localAddr'],
  ['PostgreSQL jsonlog', 'remote_host'],
  ['MongoDB', 'attr.remote attr.local'],
  ['Drupal watchdog', '?hostname'],
]

/** An address for each field. */
const addressOf = (index: number): string => `${81 + index}.2.69.142`

/** Values at dotted paths, as an object of objects. */
function nested(fields: readonly string[]): object {
  const object: Record<string, unknown> = {}
  for (const [index, field] of fields.entries()) {
    const names = field.split('.')
    let inner = object
    for (const name of names.slice(0, -1)) {
      const next: Record<string, unknown> = {}
      const old = inner[name]
      if (typeof old === 'object' && old !== null) Object.assign(next, old)
      inner[name] = next
      inner = next
    }
    inner[names.at(-1) ?? ''] = addressOf(index)
  }
  return object
}

const outcome = (input: string): string => {
  try {
    return makePlan(utf8(input), true, {}).notes.join('; ')
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
}

const escaped = (text: string): string => text.slice(0, 50).replace(/[$.]/g, '\\$&')

describe('the table of names, with the field lists of products', () => {
  it('has more than a hundred products', () => {
    expect(new Set(PRODUCTS.map(([product]) => product)).size).toBeGreaterThanOrEqual(100)
  })

  it.each(PRODUCTS)('finds the client of %s in %s', (_, list) => {
    const [first = '', ...others] = list.split(' ')
    const isRefused = first.startsWith('?')
    const client = first.replace('?', '')
    // The order of the fields decides nothing.
    for (const fields of [
      [client, ...others],
      [...others, client],
    ]) {
      const object = outcome(`${JSON.stringify(nested(fields))}\n`)
      const table = outcome(
        `n,${fields.join(',')}\nx,${fields.map((__, index) => addressOf(index)).join(',')}\n`,
      )
      for (const message of [object, table]) {
        if (isRefused) expect(message).toMatch(/addresses are in .*--field /)
        else expect(message).toMatch(new RegExp(`the address is in (column \\d+, )?"?${escaped(client)}`))
      }
    }
  })

  it.each(PRODUCTS)('takes no other field of %s if that of the client is empty: %s', (_, list) => {
    const [first = '', ...others] = list.split(' ')
    if (first.startsWith('?')) return
    const fields = [first, ...others]
    const values = fields.map((__, index) => (index === 0 ? '' : addressOf(index)))
    expect(outcome(`n,${fields.join(',')}\nx,${values.join(',')}\n`)).toMatch(
      new RegExp(`the address is in (column \\d+, )?"?${escaped(first)}`),
    )
  })
})

describe('the name of a field', () => {
  it.each([
    ['client_ip', 'remote_addr'],
    ['remote_ip', 'remote_addr'],
    ['remote_addr', 'src_ip'],
    ['src_ip', 'ip'],
    ['ip', 'x_real_ip'],
  ])('%s is better than %s', (better, worse) => {
    expect(addressWeight([better], false)).toBeGreaterThan(addressWeight([worse], false))
  })

  it.each([['clientIp'], ['client-ip'], ['Client IP'], ['CLIENT_IP'], ['$client.ip']])(
    'is spelt in any way: %s',
    (name) => {
      expect(addressWeight([name], false)).toBe(addressWeight(['client_ip'], false))
    },
  )

  it.each([
    ['server', 'ip'],
    ['host', 'ip'],
    ['upstream', 'address'],
    ['dns', 'ip'],
    ['response', 'remote'],
    ['a', 'b'],
  ])('in %s says nothing: %s', (...path) => expect(addressWeight(path, false)).toBe(0))

  it('is that of a list only if proxies are trusted', () => {
    expect(addressWeight(['X-Forwarded-For'], false)).toBe(0)
    expect(addressWeight(['X-Forwarded-For'], true)).toBeGreaterThan(addressWeight(['client_ip'], true))
    expect(isListName(['headers', 'x-forwarded-for'])).toBe(true)
    expect(isListName(['ip'])).toBe(false)
  })

  it.each([
    ['ua_version', true],
    ['uaVersion', true],
    ['UAVERSION', true],
    ['serverIp', true],
    ['dns.answer', true],
    ['tags', true],
    ['who', false],
    ['visited_from', false],
    ['login', false],
    ['destiny', false],
  ])('%s says that it is something else: %s', (name, expected) => {
    expect(isOtherName([name])).toBe(expected)
  })

  it('of a time is ranked by its path', () => {
    expect(timeRank(['@timestamp'])).toBeLessThan(timeRank(['created']))
    expect(timeRank(['created'])).toBeLessThan(timeRank(['log', '@timestamp']))
    expect(timeRank(['@t'])).toBeLessThan(timeRank(['created']))
    const ofWindows = ['Event', 'System', 'TimeCreated', '#attributes', 'SystemTime']
    expect(timeRank(ofWindows)).toBeLessThan(Number.POSITIVE_INFINITY)
    expect(timeRank(['t', '$date'])).toBe(timeRank(['ts']))
    expect(timeRank(['created', '$date'])).toBe(timeRank(['created']))
    expect(timeRank(['x', '$date'])).toBe(Number.POSITIVE_INFINITY)
  })
})
