// Entry of geofix/http for Node: the handler, and keys in a file.
export type { Authenticate, KeyOwner } from './http/admission.ts'
export { createHandler, type Handler } from './http/handler.ts'
export {
  createNodeListener,
  type NodeListener,
  type NodeRequest,
  type NodeResponse,
  nodeRequestInfo,
} from './http/node-listener.ts'
export type { Answer, HandlerOptions, RequestInfo } from './http/options.ts'
export type { Budget, MakeLimiter, Plan, RateLimiter } from './http/rate-limit.ts'
export type { Operation } from './http/route.ts'
export { createKeyFile, type KeyFile, type KeyFileOptions, type KeyFileStatus } from './node/keys/key-file.ts'
export { KeyFileError } from './node/keys/key-list.ts'
