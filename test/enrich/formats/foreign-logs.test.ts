// Lines of programs that no format is made for. A format that takes them for its own reads the wrong word.
import { describe, expect, it } from 'vitest'
import { makePlan } from '../../../src/enrich/formats/formats.ts'
import { enrichText, utf8 } from '../in-memory-run.ts'

/** Each with the sender of the log, or another address that is not the client's, where such lines have one. */
const LINES: readonly [program: string, line: string][] = [
  [
    'HAProxy by syslog, with captured headers',
    'Feb 25 16:19:49 192.168.4.2 haproxy[7]: 81.2.69.142:53332 [25/Feb/2019:16:19:48.143] in~ bk_a/srv1 0/0/7/1457/1487 200 11394 - - ---- 2/1/0/0/0 0/0 {Mozilla/5.0 (Windows NT 6.1; Win64)} {} "GET /a?b=1 HTTP/1.1"',
  ],
  [
    'HAProxy for TCP',
    'Feb  5 12:14:14 10.0.0.2 haproxy[14387]: 81.2.69.142:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0',
  ],
  [
    'iptables',
    'Jul  1 12:00:00 gate kernel: [12.3] DROP IN=eth0 OUT= MAC=00:11:22:33:44:55:66:77:88:99:aa:bb:08:00 SRC=81.2.69.142 DST=192.0.2.9 LEN=40 TTL=245 PROTO=TCP SPT=443 DPT=22',
  ],
  ['sshd', 'Jul  1 12:00:00 host sshd[812]: Failed password for root from 81.2.69.142 port 51234 ssh2'],
  ['Postfix', 'Jul  1 12:00:00 mx postfix/smtpd[9]: connect from unknown[81.2.69.142]'],
  [
    'Dovecot',
    'Jul 01 12:00:00 imap-login: Info: Login: user=<a@example.com>, method=PLAIN, rip=81.2.69.142, lip=192.0.2.9, mpid=7, TLS',
  ],
  [
    'BIND',
    '01-Jul-2026 12:00:00.123 queries: info: client @0x7f 81.2.69.142#53211 (example.com): query: example.com IN A +E(0)K (192.0.2.9)',
  ],
  ['dnsmasq', 'Jul  1 12:00:00 dnsmasq[7]: query[A] example.com from 81.2.69.142'],
  ['fail2ban', '2026-07-01 12:00:00,123 fail2ban.actions [812]: NOTICE [sshd] Ban 81.2.69.142'],
  [
    'OpenVPN',
    'Wed Jul  1 12:00:00 2026 81.2.69.142:1194 TLS: Initial packet from [AF_INET]81.2.69.142:1194, sid=1 2',
  ],
  [
    'nginx, errors',
    '2026/07/01 12:00:00 [error] 7#7: *1 open() "/a" failed (2: No such file), client: 81.2.69.142, server: _, request: "GET /a HTTP/1.1", host: "192.0.2.9"',
  ],
  [
    'Apache, errors',
    '[Wed Jul 01 12:00:00.123456 2026] [core:error] [pid 7:tid 9] [client 81.2.69.142:51234] AH00126: Invalid URI in request',
  ],
  [
    'uWSGI',
    '[pid: 7|app: 0|req: 1/1] 81.2.69.142 () {40 vars in 600 bytes} [Wed Jul  1 12:00:00 2026] GET /a => generated 9 bytes in 7 msecs (HTTP/1.1 200) 2 headers in 80 bytes (1 switches on core 0)',
  ],
  [
    'PostgreSQL',
    '2026-07-01 12:00:00.123 UTC [7] a@b LOG:  connection received: host=81.2.69.142 port=51234',
  ],
  ['MySQL', '2026-07-01T12:00:00.123456Z\t    7 Connect\troot@81.2.69.142 on  using TCP/IP'],
  ['Redis', '7:M 01 Jul 2026 12:00:00.123 - Accepted 81.2.69.142:51234'],
  [
    'Envoy',
    '[2026-07-01T12:00:00.123Z] "GET /a HTTP/1.1" 200 - 0 9 7 6 "81.2.69.142" "curl/8" "id" "example.com" "10.0.0.2:80"',
  ],
  [
    'FreeRADIUS',
    'Wed Jul  1 12:00:00 2026 : Auth: (7) Login OK: [bob] (from client ap port 0 cli 00-11-22-33-44-55) 81.2.69.142',
  ],
  [
    'Cisco ASA',
    'Jul 01 2026 12:00:00 fw : %ASA-6-302013: Built inbound TCP connection 7 for outside:81.2.69.142/51234 (81.2.69.142/51234) to dmz:192.0.2.9/443 (192.0.2.9/443)',
  ],
  [
    'OpenStack',
    '2026-07-01 12:00:00.123 7 INFO nova.osapi_compute.wsgi.server [req-1 a b - - -] 81.2.69.142 "GET /v2 HTTP/1.1" status: 200 len: 9 time: 0.25',
  ],
  [
    'Kubernetes, an audit in words',
    'I0701 12:00:00.123456       7 httplog.go:132] "HTTP" verb="GET" URI="/a" latency="1ms" srcIP="81.2.69.142:51234" resp=200',
  ],
  [
    'Java',
    '2026-07-01 12:00:00.123  INFO 7 --- [nio-8080-exec-1] c.e.App : request from 81.2.69.142 took 7 ms',
  ],
  ['vsftpd', 'Wed Jul  1 12:00:00 2026 [pid 7] [bob] OK LOGIN: Client "81.2.69.142"'],
  [
    'Exim',
    '2026-07-01 12:00:00 1abcde-000000-00 <= a@example.com H=mail.example.com [81.2.69.142] P=esmtps S=900',
  ],
  [
    'MySQL',
    "2019-01-03T08:50:04.634875Z 113 [Note] [MY-010926] [Server] Access denied for user 'root'@'81.2.69.142' (using password: NO)",
  ],
  [
    'Kerio',
    '[30/Dec/2013 05:27:59] Relay attempt from IP address 81.2.69.142, mail from <a@example.com> to <b@example.org> rejected',
  ],
  ['3proxy', '190820200558.429 9051 00005 admin 81.2.69.142:62700 10.0.0.9:80 0 0 0 CONNECT 10.0.0.9:80'],
  ['Mosquitto', '1685821252: New connection from 81.2.69.142:58137 on port 1883.'],
  [
    'NetScreen',
    '2014-05-23T10:39:20.681154-04:00 10.10.10.1 ssg5: NetScreen device_id=1  [Root]system-warning-00515: Management session via SSH from 81.2.69.142:0 for admin has timed out',
  ],
  [
    'Stormshield',
    'id=firewall time="2023-09-28 16:37:39" fw="SN1" tz=+0200 user="john.doe" src=81.2.69.142 domain="example.org" msg="Authentication Failed" logtype="auth"',
  ],
  [
    'Junos',
    'Sep 23 13:54:55 192.168.1.1 junos-flow: 2017-09-23T13:54:54.803Z srx RT_FLOW - RT_FLOW_SESSION_DENY [junos@2636.1.1.1.2.39 source-address="81.2.69.142" source-port="1080" destination-address="192.168.1.2"]',
  ],
  [
    'MongoDB 4',
    '2021-04-16T14:46:39.853+0000 I  NETWORK  [conn150] end connection 81.2.69.142:60845 (77 connections now open)',
  ],
  [
    'Huawei USG',
    '2018-10-05 10:52:13 USG6300 %%01SECLOG/6/SESSION_TEARDOWN(l):IPVer=4,Protocol=tcp,SourceIP=81.2.69.142,DestinationIP=10.0.0.9,SourcePort=6182',
  ],
  [
    'SQL Server',
    "2020-02-24 16:05:21.00 Logon       Login failed for user 'a'. Reason: Could not find a login. [CLIENT: 81.2.69.142]",
  ],
]

describe('the lines', () => {
  it.each(LINES)('of %s are text, alone and many', (_, line) => {
    const other = line.replaceAll('81.2.69.142', '89.160.20.112').replaceAll('12:00:00', '12:00:07')
    for (const input of [`${line}\n`, `${line}\n${other}\n`.repeat(30)]) {
      expect(makePlan(utf8(input), true, {}).plan.format).toBe('text')
    }
    expect(enrichText(`${line}\n`, { at: 0 })).toContain('81.2.69.142')
    expect(enrichText(`${line}\n`, { at: 0 })).toContain('[GB London]')
  })
})
