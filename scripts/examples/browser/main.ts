import city from 'geofix/city'
import { type LocationRecord, Resolver } from 'geofix/core'
import country from 'geofix/country'
import { countries, MAP_HEIGHT, MAP_WIDTH, mapPoint } from './map.ts'
import type { Answer, Question } from './protocol.ts'

const DATABASES: Readonly<Record<string, URL>> = { city, country }

const address = find('#address', HTMLInputElement)
const database = find('#database', HTMLSelectElement)
const locale = find('#locale', HTMLSelectElement)
const inWorker = find('#worker', HTMLInputElement)
const progress = find('#progress', HTMLProgressElement)
const status = find('#status', HTMLElement)
const drop = find('#drop', HTMLElement)
const dot = find('#map circle', SVGCircleElement)

find('#map', SVGSVGElement).setAttribute('viewBox', `0 0 ${MAP_WIDTH} ${Math.round(MAP_HEIGHT)}`)
find('.land', SVGPathElement).setAttribute('d', Object.values(countries).join(''))

let geo: Resolver | undefined
/** What `geo` was opened from. */
let current: string | File = ''
let worker: Worker | undefined
/** Aborts the opening before. */
let opening = new AbortController()
let questions = 0

/** Opens a database from a URL or a file, and shows the address again. */
async function open(source: string | File): Promise<void> {
  opening.abort()
  opening = new AbortController()
  const { signal } = opening
  status.textContent = 'opening…'
  progress.hidden = false
  const start = performance.now()
  try {
    const opened = await Resolver.open(
      typeof source === 'string' ? await fetch(source, { signal }) : source,
      {
        signal,
        onProgress: ({ loaded, total }) => {
          if (total === null) progress.removeAttribute('value')
          else progress.value = loaded / total
          status.textContent = `${(loaded / 1e6).toFixed(1)} MB`
        },
      },
    )
    geo?.close()
    geo = opened
    current = source
    worker?.terminate()
    worker = undefined
    const [about] = geo.databases
    find('#attribution', HTMLElement).textContent = about?.attribution ?? ''
    status.textContent = `${about?.type} opened in ${Math.round(performance.now() - start)} ms`
    await show()
    await keepForOffline()
  } catch (error) {
    if (!signal.aborted) status.textContent = String(error)
  } finally {
    if (!signal.aborted) progress.hidden = true
  }
}

async function show(): Promise<void> {
  if (geo === undefined) return
  const text = find('#record', HTMLElement)
  try {
    const record = inWorker.checked
      ? await lookupInWorker()
      : geo.lookup(address.value.trim(), { locale: locale.value })
    text.textContent = JSON.stringify(record, null, 2)
    mark(record)
  } catch (error) {
    text.textContent = error instanceof Error ? error.message : String(error)
    dot.setAttribute('hidden', '')
  }
}

function mark({ coordinates: { latitude, longitude } }: LocationRecord): void {
  dot.toggleAttribute('hidden', latitude === null || longitude === null)
  if (latitude === null || longitude === null) return
  const { x, y } = mapPoint(latitude, longitude)
  dot.setAttribute('cx', String(x))
  dot.setAttribute('cy', String(y))
}

async function lookupInWorker(): Promise<LocationRecord> {
  if (worker === undefined) {
    worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
    // Without cross-origin isolation, threads cannot share memory: the worker opens the database again.
    if (crossOriginIsolated && geo !== undefined) await ask({ shared: geo.share() })
    else await ask({ source: current })
  }
  const { record } = await ask({ address: address.value.trim(), locale: locale.value })
  if (record === undefined) throw new Error('the worker has no database')
  return record
}

type Without<Union> = Union extends unknown ? Omit<Union, 'id'> : never

function ask(question: Without<Question>): Promise<Answer> {
  const id = ++questions
  const asked = worker
  return new Promise((resolve, reject) => {
    const receive = ({ data }: MessageEvent<Answer>): void => {
      if (data.id !== id) return
      asked?.removeEventListener('message', receive)
      if (data.error === undefined) resolve(data)
      else reject(new Error(data.error))
    }
    asked?.addEventListener('message', receive)
    asked?.postMessage({ ...question, id })
  })
}

/** Puts what this page has loaded into a cache, from which its service worker answers without a network. */
async function keepForOffline(): Promise<void> {
  if (!('serviceWorker' in navigator)) return
  await navigator.serviceWorker.register('./offline.js')
  const cache = await caches.open('geofix-example')
  const urls = performance.getEntriesByType('resource').map(({ name }) => name)
  for (const url of [location.href, ...urls]) {
    if (url.startsWith(location.origin) && (await cache.match(url)) === undefined) await cache.add(url)
  }
  document.documentElement.dataset.offline = 'ready'
}

const openEmbedded = (): Promise<void> => {
  const { href } = DATABASES[database.value] ?? country
  return open(href)
}

find('#form', HTMLFormElement).addEventListener('submit', (event) => event.preventDefault())
database.addEventListener('change', openEmbedded)
address.addEventListener('input', show)
locale.addEventListener('change', show)
inWorker.addEventListener('change', show)

for (const type of ['dragover', 'dragleave', 'drop']) {
  document.addEventListener(type, (event) => {
    event.preventDefault()
    drop.classList.toggle('over', type === 'dragover')
    const [file] = event instanceof DragEvent && type === 'drop' ? (event.dataTransfer?.files ?? []) : []
    if (file !== undefined) void open(file)
  })
}

void openEmbedded()

/** The element for a selector, which the page has. */
function find<Kind extends Element>(selector: string, kind: new () => Kind): Kind {
  const element = document.querySelector(selector)
  if (element instanceof kind) return element
  throw new Error(`the page has no ${selector}`)
}
