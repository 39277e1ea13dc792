// Looks addresses up on another thread. Where the page is cross-origin isolated, it shares the database of the page.
import { Resolver } from 'geofix/core'
import type { Answer, Question } from './protocol.ts'

let opening: Promise<Resolver> | undefined

addEventListener('message', async ({ data }: MessageEvent<Question>) => {
  postMessage(await answer(data).catch((error: unknown): Answer => ({ id: data.id, error: String(error) })))
})

async function answer(question: Question): Promise<Answer> {
  const { id } = question
  if ('address' in question) {
    const geo = await opening
    return { id, record: geo?.lookup(question.address, { locale: question.locale }) }
  }
  opening = open(question)
  await opening
  return { id }
}

async function open(question: Exclude<Question, { readonly address: string }>): Promise<Resolver> {
  if ('source' in question) {
    const { source } = question
    return Resolver.open(typeof source === 'string' ? await fetch(source) : source)
  }
  // `attach` is synchronous, so it cannot load the code for packed databases itself.
  await Resolver.loadDecompression()
  return Resolver.attach(question.shared)
}
