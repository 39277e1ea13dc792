// Preloaded (NODE_OPTIONS=--require) into a process and its threads: every way out of the process throws and is noted
// in the file GEOFIX_TRAP, a line each. Threads note that they are armed, so that a test sees where this reached.
const { createHook } = require('node:async_hooks')
const { appendFileSync } = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')
const { threadId } = require('node:worker_threads')

/** `geofix serve` may listen, and nothing else. */
const MAY_LISTEN = process.env.GEOFIX_TRAP_MAY_LISTEN !== undefined

const note = (what) => appendFileSync(process.env.GEOFIX_TRAP, `${threadId} ${what}\n`)

function forbid(holder, name, as) {
  if (MAY_LISTEN && /^(http\.createServer|net\.createServer|net\.Server\.listen)$/.test(as)) return
  const original = holder[name]
  // Node looks an address up before it listens there, which asks nobody.
  if (MAY_LISTEN && as === 'dns.lookup') {
    holder[name] = (host, ...rest) => {
      if (require('node:net').isIP(host) === 0) note(as)
      return original(host, ...rest)
    }
    return
  }
  holder[name] = function forbidden() {
    note(as)
    throw new Error(`forbidden: ${as}`)
  }
}

/** By module, or class of a module, what reaches out or lets others in. */
const FORBIDDEN = {
  net: ['connect', 'createConnection', 'createServer'],
  tls: ['connect', 'createServer'],
  http: ['request', 'get', 'createServer'],
  https: ['request', 'get', 'createServer'],
  http2: ['connect', 'createServer', 'createSecureServer'],
  dgram: ['createSocket'],
  // What another program sends is no better.
  child_process: ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'],
  inspector: ['open'],
}

for (const [module, names] of Object.entries(FORBIDDEN)) {
  for (const name of names) forbid(require(`node:${module}`), name, `${module}.${name}`)
}
const { Server, Socket } = require('node:net')
forbid(Socket.prototype, 'connect', 'net.Socket.connect')
forbid(Server.prototype, 'listen', 'net.Server.listen')
const dgram = require('node:dgram')
for (const name of ['bind', 'connect', 'send']) forbid(dgram.Socket.prototype, name, `dgram.Socket.${name}`)
const dns = require('node:dns')
for (const [holder, as] of [
  [dns, 'dns'],
  [dns.promises, 'dns.promises'],
  [dns.Resolver.prototype, 'dns.Resolver'],
  [dns.promises.Resolver.prototype, 'dns.promises.Resolver'],
]) {
  // Some are methods of the prototype above.
  for (const name of ['lookup', 'lookupService', 'resolve', ...Object.getOwnPropertyNames(dns)]) {
    if (/^(lookup|resolve|reverse)/.test(name) && typeof holder[name] === 'function') {
      forbid(holder, name, `${as}.${name}`)
    }
  }
}
for (const name of ['fetch', 'WebSocket', 'EventSource']) {
  if (name in globalThis) {
    Object.defineProperty(globalThis, name, { configurable: true, writable: true, value: undefined })
    forbid(globalThis, name, name)
  }
}
// Native code could do anything.
forbid(process, 'dlopen', 'process.dlopen')
syncBuiltinESMExports()

// Below all of these: the handles of libuv, by whatever way one comes to them.
createHook({
  init(_, type) {
    if (MAY_LISTEN && /^(TCPSERVERWRAP|TCPWRAP|HTTPINCOMINGMESSAGE)$/.test(type)) return
    if (/^(TCP|TLS|UDP|PIPE|GETADDRINFO|GETNAMEINFO|QUERY|DNS|HTTP|QUIC|PROCESSWRAP)/.test(type)) {
      note(`handle ${type}`)
    }
  },
}).enable()
note('armed')
