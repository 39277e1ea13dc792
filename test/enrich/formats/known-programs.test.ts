// The formats that GoAccess predefines, and lines of servers, mail programs and logins: each is read without a flag.
import { describe, expect, it } from 'vitest'
import { definitionOf } from '../../../src/enrich/formats/formats.ts'
import { enrichBytes, utf8 } from '../in-memory-run.ts'

const IP = '81.2.69.142'

/** From the documents of each. The formats in capitals are those of GoAccess. */
const LINES: readonly [program: string, format: string, lines: string][] = [
  ['COMBINED', 'access-log', `${IP} - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8"`],
  [
    'VCOMBINED',
    'access-log',
    `example.com:80 ${IP} - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8"`,
  ],
  ['COMMON', 'access-log', `${IP} - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 512`],
  ['VCOMMON', 'access-log', `example.com:80 ${IP} - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 512`],
  [
    'CLOUDFRONT',
    'w3c',
    `#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for\n2026-07-01\t12:00:00\tLHR62-C1\t512\t${IP}\tGET\td1.cloudfront.net\t/\t200\t-\tcurl/8\t-\t-\tHit\tabc\texample.com\thttps\t23\t0.001\t-`,
  ],
  [
    'CLOUDSTORAGE',
    'csv',
    `"time_micros","c_ip","c_ip_type","c_ip_region","cs_method","cs_uri","sc_status","cs_bytes","sc_bytes","time_taken_micros","cs_host","cs_referer","cs_user_agent","s_request_id","cs_operation","cs_bucket","cs_object"\n"1782907200000000","${IP}","1","","GET","/b/o","200","0","512","12000","storage.googleapis.com","","curl/8","AB","GET_Object","b","o"`,
  ],
  [
    'CADDY',
    'ndjson',
    `{"level":"info","ts":1782907200.31,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"${IP}","remote_port":"51234","client_ip":"${IP}","proto":"HTTP/2.0","method":"GET","host":"example.com","uri":"/"},"duration":0.001,"size":512,"status":200}`,
  ],
  [
    'TRAEFIKCLF',
    'access-log',
    `${IP} - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8" 1 "web@docker" "http://172.18.0.3:80" 3ms`,
  ],
  [
    'ingress-nginx',
    'access-log',
    `${IP} - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8" 120 0.004 [default-web-80] [] 10.1.0.7:8080 512 0.004 200 0f1e2d`,
  ],
  ['Tomcat', 'access-log', `${IP} - - [01/Jul/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 12 15`],
  [
    'the error log of Apache',
    'text',
    `[Wed Jul 01 12:00:00.123456 2026] [core:error] [pid 7:tid 1] [client ${IP}:51234] AH00126: Invalid URI`,
  ],
  [
    'the error log of nginx',
    'text',
    `2026/07/01 12:00:00 [error] 7#7: *1 open() "/x" failed (2: No such file or directory), client: ${IP}, server: example.com, request: "GET /x HTTP/1.1", host: "example.com"`,
  ],
  [
    'Dovecot',
    'text',
    `Jul  1 12:00:00 mx dovecot: imap-login: Login: user=<a>, method=PLAIN, rip=${IP}, lip=10.0.0.1, mpid=7, TLS, session=<x>`,
  ],
  [
    'Sendmail',
    'text',
    `Jul  1 12:00:00 mx sendmail[7]: x61C0: from=<a@b>, size=1, class=0, nrcpts=1, relay=mail.example [${IP}]`,
  ],
  [
    'pfSense',
    'text',
    `Jul  1 12:00:00 fw filterlog[64]: 5,,,1000000103,igb0,match,block,in,4,0x0,,241,54321,0,none,6,tcp,40,${IP},203.0.113.9,42112,23,0,S,1,,1024,,`,
  ],
  [
    'MongoDB',
    'ndjson',
    `{"t":{"$date":"2026-07-01T12:00:00.123+00:00"},"s":"I","c":"NETWORK","id":22943,"ctx":"listener","msg":"Connection accepted","attr":{"remote":"${IP}:52111","connectionId":1}}`,
  ],
  [
    'Okta',
    'json',
    `[{"actor":{"id":"1"},"client":{"userAgent":{"browser":"CHROME"},"ipAddress":"${IP}"},"published":"2026-07-01T12:00:00.123Z"}]`,
  ],
  [
    'PostgreSQL',
    'text',
    `2026-07-01 12:00:00.120 UTC [42] [unknown]@[unknown] LOG:  connection received: host=${IP} port=52111`,
  ],
  ['OpenVPN', 'text', `2026-07-01 12:00:00 ${IP}:51234 TLS: Initial packet from [AF_INET]${IP}:51234`],
  [
    'HAProxy',
    'text',
    `Jul  1 12:00:00 lb haproxy[7]: ${IP}:51234 [01/Jul/2026:12:00:00.123] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1"`,
  ],
  [
    'iptables',
    'text',
    `Jul  1 12:00:00 fw kernel: IN=eth0 OUT= MAC=00:11:22:33:44:55:66:77:88:99:aa:bb:08:00 SRC=${IP} DST=10.0.0.1 LEN=60 PROTO=TCP SPT=51234 DPT=22`,
  ],
  ['PostgreSQL', 'text', `2026-07-01 12:00:00.123 UTC [7] LOG:  connection received: host=${IP} port=51234`],
  ['Rails', 'text', `Started GET "/" for ${IP} at 2026-07-01 12:00:00 +0000`],
  [
    'Morgan',
    'access-log',
    `::ffff:${IP} - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8"`,
  ],
  [
    'CUPS',
    'access-log',
    `${IP} - - [01/Jul/2026:12:00:00 +0000] "POST / HTTP/1.1" 200 349 Create-Printer successful-ok`,
  ],
  [
    'uWSGI',
    'text',
    `[pid: 7|app: 0|req: 1/1] ${IP} () {40 vars in 512 bytes} [Wed Jul  1 12:00:00 2026] GET / => generated 12 bytes in 3 msecs (HTTP/1.1 200) 2 headers in 79 bytes (1 switches on core 0)`,
  ],
  [
    'Bunyan',
    'ndjson',
    `{"name":"web","hostname":"h","pid":7,"level":30,"req":{"method":"GET","url":"/","headers":{"host":"example.com"},"remoteAddress":"${IP}","remotePort":51234},"msg":"x","time":"2026-07-01T12:00:00.000Z","v":0}`,
  ],
  [
    'Pino',
    'ndjson',
    `{"level":30,"time":1782907200000,"pid":7,"hostname":"h","req":{"id":1,"method":"GET","url":"/","remoteAddress":"${IP}","remotePort":51234},"msg":"request completed"}`,
  ],
  [
    'Elastic Common Schema',
    'ndjson',
    `{"@timestamp":"2026-07-01T12:00:00Z","source":{"ip":"${IP}","port":51234},"destination":{"ip":"10.0.0.1"},"event":{"dataset":"x"}}`,
  ],
  [
    'Suricata',
    'ndjson',
    `{"timestamp":"2026-07-01T12:00:00.000000+0000","flow_id":1,"event_type":"alert","src_ip":"${IP}","src_port":51234,"dest_ip":"10.0.0.1","dest_port":80,"proto":"TCP"}`,
  ],
  [
    'load balancers of Google Cloud',
    'ndjson',
    `{"insertId":"a","httpRequest":{"requestMethod":"GET","remoteIp":"${IP}","serverIp":"10.0.0.1","status":200},"timestamp":"2026-07-01T12:00:00Z","jsonPayload":{"remoteIp":"${IP}"}}`,
  ],
  [
    'Traefik, as JSON',
    'ndjson',
    `{"ClientAddr":"${IP}:51234","ClientHost":"${IP}","ClientPort":"51234","ClientUsername":"-","DownstreamStatus":200,"RequestAddr":"example.com","RequestHost":"example.com","ServiceAddr":"172.18.0.3:80","StartUTC":"2026-07-01T12:00:00Z","time":"2026-07-01T12:00:00Z"}`,
  ],
  [
    'Azure Front Door',
    'ndjson',
    `{"time":"2026-07-01T12:00:00Z","category":"FrontDoorAccessLog","properties":{"clientIp":"${IP}","clientPort":"51234","socketIp":"${IP}","originIp":"10.0.0.1:443"}}`,
  ],
  [
    'the firewall of Windows',
    'w3c',
    `#Version: 1.5\n#Software: Microsoft Windows Firewall\n#Time Format: Local\n#Fields: date time action protocol src-ip dst-ip src-port dst-port size tcpflags tcpsyn tcpack tcpwin icmptype icmpcode info path\n2026-07-01 12:00:00 ALLOW TCP ${IP} 10.0.0.1 51234 443 0 - 0 0 0 - - - RECEIVE`,
  ],
  [
    'lighttpd',
    'access-log',
    `${IP} example.com - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8"`,
  ],
  [
    'Squid, combined',
    'access-log',
    `${IP} - - [01/Jul/2026:12:00:00 +0000] "GET http://example.com/ HTTP/1.1" 200 512 "-" "curl/8" TCP_MISS:HIER_DIRECT`,
  ],
  ['Uvicorn', 'text', `INFO:     ${IP}:51234 - "GET / HTTP/1.1" 200 OK`],
  [
    'Envoy',
    'text',
    `[2026-07-01T12:00:00.123Z] "GET / HTTP/1.1" 200 - 0 512 3 2 "${IP}" "curl/8" "abc" "example.com" "10.1.0.7:8080"`,
  ],
  [
    'Istio',
    'text',
    `[2026-07-01T12:00:00.123Z] "GET / HTTP/1.1" 200 - via_upstream - "-" 0 512 3 2 "${IP}" "curl/8" "abc" "example.com" "10.1.0.7:8080" inbound|8080|| 127.0.0.6:51234 10.1.0.7:8080 ${IP}:0 - default`,
  ],
  [
    'FortiGate',
    'text',
    `date=2026-07-01 time=12:00:00 devname="fw" srcip=${IP} srcport=51234 dstip=10.0.0.1 action="deny"`,
  ],
  [
    'Cisco ASA',
    'text',
    `Jul 01 2026 12:00:00 fw : %ASA-4-106023: Deny tcp src outside:${IP}/51234 dst inside:10.0.0.1/22 by access-group "x"`,
  ],
  [
    'MikroTik',
    'text',
    `jul/01 12:00:00 firewall,info input: in:ether1 out:(unknown 0), proto TCP (SYN), ${IP}:51234->10.0.0.1:22, len 60`,
  ],
  [
    'W3C',
    'w3c',
    `#Software: Microsoft Internet Information Services 10.0\n#Fields: date time s-ip cs-method cs-uri-stem s-port c-ip sc-status\n2026-07-01 12:00:00 10.0.0.1 GET / 443 ${IP} 200`,
  ],
  [
    'SonicWall',
    'text',
    `<134>id=firewall sn=C0EAE4 time="2026-07-01 12:00:00 UTC" fw=203.0.113.1 pri=6 m=98 src=${IP}:51234:X1 dst=10.0.0.5:443:X0 proto=tcp/https`,
  ],
  [
    'Palo Alto, by syslog',
    'text',
    `<14>Jul  1 12:00:00 PA-220 1,2026/07/01 12:00:00,012801096514,TRAFFIC,end,2304,2026/07/01 12:00:00,${IP},192.168.1.5,0.0.0.0,0.0.0.0,rule1,,,web-browsing,vsys1`,
  ],
  [
    'Exchange',
    'w3c',
    `#Software: Microsoft Exchange Server\n#Version: 15.2.221.9\n#Log-type: Message Tracking Log\n#Date: 2026-07-01T12:00:00.000Z\n#Fields: date-time,client-ip,client-hostname,server-ip,event-id,message-subject\n2026-07-01T12:00:00.000Z,${IP},mx,10.0.0.9,RECEIVE,"Hello, you"`,
  ],
  [
    'Exchange, protocol log',
    'w3c',
    `#Fields: date-time,connector-id,session-id,sequence-number,local-endpoint,remote-endpoint,event,data,context\n2026-07-01T12:00:00.000Z,EX01\\Default,08D9,0,10.0.0.9:25,${IP}:51234,+,,`,
  ],
  [
    'nginx, as JSON',
    'ndjson',
    `{"time_local":"01/Jul/2026:12:00:00 +0000","remote_addr":"${IP}","status":"200"}`,
  ],
  ['logfmt', 'text', `time=2026-07-01T12:00:00Z level=info msg="request" remote_addr=${IP}:51234 status=200`],
  [
    'BIND',
    'text',
    `01-Jul-2026 12:00:00.123 client @0x7f ${IP}#53211 (example.com): query: example.com IN A +E(0)K (10.0.0.2)`,
  ],
  ['SQUID', 'squid', definitionOf('squid').example],
  ['AWSELB', 'aws-elb', definitionOf('aws-elb').example],
  ['AWSALB', 'aws-alb', definitionOf('aws-alb').example],
  ['AWSS3', 'aws-s3', definitionOf('aws-s3').example],
]

describe('the lines', () => {
  it.each(LINES)('of %s are %s, one and many, and are located', (_, format, text) => {
    const lines = text.split('\n')
    for (const count of [1, 30]) {
      const input = [...lines, ...Array<string>(count - 1).fill(lines.at(-1) ?? '')].join('\n')
      const { plan, counts } = enrichBytes(utf8(`${input}\n`), { at: Date.UTC(2026, 6, 2) })
      expect(plan.format).toBe(format)
      expect(counts).toMatchObject({ resolved: count, bad: 0, failed: {} })
    }
  })

  it('of an export of Cloud Storage have a time', () => {
    const [, , text = ''] = LINES.find(([name]) => name === 'CLOUDSTORAGE') ?? []
    expect(enrichBytes(utf8(`${text}\n`), {}).counts).toMatchObject({ resolved: 1, withoutTime: 0 })
  })

  it('of a load balancer have one address in two members; if these differ, they are refused', () => {
    const line = (other: string) =>
      `{"httpRequest":{"remoteIp":"${IP}"},"jsonPayload":{"remoteIp":"${other}"}}\n`
    const { plan, notes } = enrichBytes(utf8(line(IP).repeat(3)), {})
    expect(plan).toMatchObject({ path: ['httpRequest', 'remoteIp'] })
    expect(notes.join()).toContain('addresses are also in jsonPayload.remoteIp')
    expect(() => enrichBytes(utf8(line(IP).repeat(3) + line('10.0.0.1')), {})).toThrow(/unclear which member/)
  })
})
