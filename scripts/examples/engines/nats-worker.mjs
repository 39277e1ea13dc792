// npm install geofix @nats-io/transport-node @nats-io/jetstream
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, nanos } from '@nats-io/transport-node'
import { Resolver } from 'geofix'
import { createRowEnricher } from 'geofix/enrich'

const { NATS_URL, ACK_WAIT_MS = '30000' } = process.env
const resolver = await Resolver.open()
const enrich = createRowEnricher({ resolver, format: 'ndjson', field: 'client.ip', timeField: '@timestamp' })

const connection = await connect({ servers: NATS_URL, maxReconnectAttempts: -1 })
const manager = await jetstreamManager(connection)
// The stream recognises a message that comes again within this time. Make it longer than any pause of a worker.
const duplicate_window = nanos(3_600_000)
await manager.streams.add({ name: 'EVENTS', subjects: ['events'] })
await manager.streams.add({ name: 'LOCATED', subjects: ['located'], duplicate_window })
const ack_wait = nanos(Number(ACK_WAIT_MS))
await manager.consumers.add('EVENTS', { durable_name: 'geofix', ack_policy: AckPolicy.Explicit, ack_wait })

const stream = jetstream(connection)
const consumer = await stream.consumers.get('EVENTS', 'geofix')
for (;;) {
  try {
    const messages = []
    for await (const message of await consumer.fetch({ max_messages: 100, expires: 1000 }))
      messages.push(message)
    const rows = enrich(messages.map(({ data }) => data))
    await Promise.all(
      messages.map(async (message, index) => {
        await stream.publish('located', rows[index], { msgID: `EVENTS-${message.seq}` })
        message.ack()
      }),
    )
  } catch (error) {
    // Messages without an acknowledgement come again.
    console.error(error.message)
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
}
