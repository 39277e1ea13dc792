// The service worker: answers from the cache first, so that the page works without a network.
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('fetch', (event) => {
  if (event.request.method !== 'GET') return
  event.respondWith(
    caches.match(event.request, { ignoreVary: true }).then((kept) => kept ?? fetch(event.request)),
  )
})
