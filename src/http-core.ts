// Entry of geofix/http for edge runtimes: the handler, which needs nothing of Node.
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
