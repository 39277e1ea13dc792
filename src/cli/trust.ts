import { ClientWalk } from '../client/client-address.ts'
import { messageOf } from '../realm.ts'
import type { FlagsOf, TRUST } from './options.ts'
import { UsageError } from './terminal.ts'

/** @throws UsageError when the trusted proxies are not valid */
export function trustOf({ trust, forwardedHeader }: FlagsOf<typeof TRUST>): ClientWalk {
  if (forwardedHeader !== undefined && trust === undefined) {
    throw new UsageError('--forwarded-header needs --trust, with the proxies that write the field')
  }
  try {
    return new ClientWalk({ trustedProxies: trust, forwardedHeader })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
