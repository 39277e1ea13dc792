// Looks addresses up on another thread. Where the page is cross-origin isolated, it shares the database of the page.
import { Resolver } from 'geofix/core'
import type { Answer, Question } from './protocol.ts'

let geo: Resolver | undefined

addEventListener('message', async ({ data }: MessageEvent<Question>) => {
  postMessage(await answer(data).catch((error: unknown): Answer => ({ id: data.id, error: String(error) })))
})

async function answer(question: Question): Promise<Answer> {
  const { id } = question
  if ('address' in question) return { id, record: geo?.lookup(question.address, { locale: question.locale }) }
  if ('shared' in question) geo = Resolver.attach(question.shared)
  else
    geo = await Resolver.open(
      typeof question.source === 'string' ? await fetch(question.source) : question.source,
    )
  return { id }
}
