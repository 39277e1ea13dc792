// Preloaded (NODE_OPTIONS=--require) into a process and its threads: every way out of the process is noted in the file
// GEOFIX_TRAP, a line each. Threads note that they are armed, so that a test sees where this reached.
const { createHook } = require('node:async_hooks')
const childProcess = require('node:child_process')
const { appendFileSync } = require('node:fs')
const inspector = require('node:inspector')
const { syncBuiltinESMExports } = require('node:module')
const { threadId } = require('node:worker_threads')

const note = (what) => appendFileSync(process.env.GEOFIX_TRAP, `${threadId} ${what}\n`)

/** `geofix serve` may listen, and nothing else. */
const ALLOWED = process.env.GEOFIX_TRAP_MAY_LISTEN ? /^(TCPSERVERWRAP|TCPWRAP|HTTPINCOMINGMESSAGE)$/ : /^$/

// Below all modules: the handles and requests of libuv, by whatever way one comes to them.
createHook({
  init(_, type) {
    if (ALLOWED.test(type)) return
    if (/^(TCP|TLS|UDP|PIPE|GETADDRINFO|GETNAMEINFO|QUERY|HTTP|QUIC|PROCESSWRAP)/.test(type)) note(type)
  },
}).enable()

// These have no handle: programs that are waited for, the inspector, and native code, which could do anything.
for (const [holder, names] of [
  [childProcess, ['spawnSync', 'execSync', 'execFileSync']],
  [inspector, ['open']],
  [process, ['dlopen']],
]) {
  for (const name of names) {
    holder[name] = () => {
      note(name)
      throw new Error(`forbidden: ${name}`)
    }
  }
}
syncBuiltinESMExports()
note('armed')
