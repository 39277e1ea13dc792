import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../temporary.ts'
import { startServeIn } from './process.ts'
import { writeFiles } from './running.ts'

/** Of the server: 96 are kept for files, so that it takes 904 connections, and a tenth of them from one client. */
const DESCRIPTORS = 1000
const CONNECTIONS = 1500
/** 127.0.0.1 and the next ones, which are all this machine. Other systems have only the first. */
const ADDRESSES = 20

const { database } = writeFiles(temporaryFolder())

async function healthFrom(port: number, localAddress: string): Promise<number | string> {
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1', path: '/healthz', localAddress, agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    }).on('error', ({ message }) => resolve(message))
  })
}

describe.skipIf(process.platform !== 'linux')('/healthz', () => {
  it.each([
    ['say nothing', ''],
    ['are idle', 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['never end their header', 'GET /healthz HTTP/1.1\r\nHo'],
    [
      'never send their body',
      'POST /v1/ip/batch HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n[',
    ],
  ])('is answered while clients hold all connections that %s', async (_, bytes) => {
    const { port } = await startServeIn({ descriptors: DESCRIPTORS }, '--open', '--db', database)
    const sockets: Socket[] = []
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    let closed = 0
    for (let count = 0; count < CONNECTIONS; count++) {
      const localAddress = `127.0.0.${1 + (count % ADDRESSES)}`
      const socket = connect({ port, host: '127.0.0.1', localAddress })
      sockets.push(socket)
      socket.on('error', () => {}).on('close', () => closed++)
      await new Promise<void>((resolve) =>
        socket.once('connect', () => resolve()).once('close', () => resolve()),
      )
      socket.resume().write(bytes)
    }
    // The server takes 904 of them.
    while (closed < CONNECTIONS - (DESCRIPTORS - 96)) await delay(20)
    expect(await healthFrom(port, '127.0.0.1')).toBe(200)
    expect(await healthFrom(port, '127.0.1.1')).toBe(200)
    expect(closed).toBeLessThan(CONNECTIONS - 800)
  })
})
