import { existsSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../temporary.ts'
import { raw, statusesOf } from './raw.ts'
import { KEYS, serve } from './running.ts'

const folder = temporaryFolder()
const request = (path: string, more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: geo.example\r\nAuthorization: Bearer ${KEYS.developer}\r\nConnection: close\r\n${more}\r\n`
const CLIENT = 'X-Forwarded-For: 81.2.69.142\r\n'

describe.skipIf(process.platform === 'win32')('a Unix socket', () => {
  it('is served to its owner and group, and removed at the end', async () => {
    const socket = { path: join(folder, 'served.sock') }
    const service = await serve(folder, { listen: socket, trustedProxies: ['unix:'] })
    expect(statSync(socket.path).mode & 0o777).toBe(0o660)
    const answer = await raw(socket, request('/v1/ip', CLIENT))
    expect(answer).toContain('"ip":"81.2.69.142"')
    expect(service.lines().at(-1)).toMatchObject({ peer: 'unix:', client: '81.2.69.142', status: 200 })
    expect(statusesOf(await raw(socket, request('/healthz')))).toEqual([200])
    // Requests whose targets are not plain, and bytes that are not a request.
    expect(await raw(socket, request('/v1/ip?locale=%65n', CLIENT))).toContain('"ip":"81.2.69.142"')
    expect(statusesOf(await raw(socket, 'hello\r\n\r\n'))).toEqual([400])
    expect(service.lines().at(-1)).toMatchObject({ peer: 'unix:', client: null, status: 400 })
    await service.stop()
    expect(existsSync(socket.path)).toBe(false)
  })

  it('whose peer is not trusted does not tell who asks', async () => {
    const socket = { path: join(folder, 'untrusted.sock') }
    const service = await serve(folder, { listen: socket, trustedProxies: ['loopback'] })
    expect(statusesOf(await raw(socket, request('/v1/ip', CLIENT)))).toEqual([500])
    expect(service.lines()).toContainEqual(
      expect.objectContaining({ event: 'error', message: expect.stringContaining("'unix:'") }),
    )
  })

  it('whose path the system would cut off is refused', async () => {
    const socket = { path: join(folder, 'x'.repeat(108)) }
    await expect(serve(folder, { listen: socket })).rejects.toThrow(
      /cannot listen at unix:.*: the path has \d+ bytes/,
    )
    expect(readdirSync(folder).filter((name) => name.startsWith('x'))).toEqual([])
  })

  it('in a folder that does not exist is refused with that reason', async () => {
    const socket = { path: join(folder, 'missing', 'http.sock') }
    await expect(serve(folder, { listen: socket })).rejects.toThrow(
      `there is no folder ${join(folder, 'missing')}`,
    )
  })

  it('of a process that was killed is replaced, and nothing else is', async () => {
    const socket = { path: join(folder, 'stale.sock') }
    // A listener that is closed without unlinking leaves its socket, as a killed process does.
    const running = await serve(folder, { listen: socket })
    await expect(serve(folder, { listen: socket })).rejects.toThrow(`cannot listen at unix:${socket.path}`)
    expect(statusesOf(await raw(socket, request('/healthz')))).toEqual([200])
    await running.stop()
    writeFileSync(socket.path, 'a file')
    await expect(serve(folder, { listen: socket })).rejects.toThrow('EADDRINUSE')
    expect(statSync(socket.path).isFile()).toBe(true)
  })

  it('that nobody listens at any more is replaced', async () => {
    const [path, moved] = [join(folder, 'first.sock'), join(folder, 'moved.sock')]
    const dead = createServer()
    await new Promise<void>((resolve) => dead.listen(path, resolve))
    // Closing removes the first name only.
    renameSync(path, moved)
    await new Promise<void>((resolve) => dead.close(() => resolve()))
    expect(statSync(moved).isSocket()).toBe(true)
    await serve(folder, { listen: { path: moved }, trustedProxies: ['unix:'] })
    expect(statusesOf(await raw({ path: moved }, request('/healthz')))).toEqual([200])
  })
})
