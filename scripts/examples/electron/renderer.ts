// The page.
import type { GeofixApi } from './preload.ts'

declare global {
  interface Window {
    readonly geofix: GeofixApi
  }
}

const form = document.querySelector('form')
form?.addEventListener('submit', async (event) => {
  event.preventDefault()
  const ip = String(new FormData(form).get('ip'))
  const result = await window.geofix.lookup(ip, navigator.language)
  const output = form.querySelector('output')
  if (output !== null)
    output.textContent = 'error' in result ? result.error.message : (result.city ?? result.country.name)
})
