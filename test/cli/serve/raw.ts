import { connect } from 'node:net'

/** Lines of requests. */
export const HOST = 'Host: geo.example\r\n'
export const CLOSE = 'Connection: close\r\n'
export const CHUNKED = 'Transfer-Encoding: chunked\r\n'
export const JSON_TYPE = 'Content-Type: application/json\r\n'

/** Silence after which no further answer comes. */
const SILENCE_MS = 150

/** Sends bytes as they are. Gives what came back until the server closes the connection, or is silent after `count` answers. */
export async function raw(
  at: { readonly port: number } | { readonly path: string },
  text: string,
  count = Number.POSITIVE_INFINITY,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = 'path' in at ? connect(at.path) : connect(at.port, '127.0.0.1')
    let answer = ''
    let silence: NodeJS.Timeout | undefined
    socket.setEncoding('latin1').on('data', (chunk) => {
      answer += chunk
      clearTimeout(silence)
      if (statusesOf(answer).length >= count && answer.includes('\r\n\r\n'))
        silence = setTimeout(() => socket.destroy(), SILENCE_MS)
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
    socket.write(Buffer.from(text, 'latin1'))
  })
}

export function statusesOf(answer: string): number[] {
  return Array.from(answer.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status))
}

/** The value of a header field in an answer. */
export function fieldOf(answer: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)\r$`, 'im').exec(answer)?.[1]
}
