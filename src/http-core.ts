// Entry of geofix/http for edge runtimes: the handler, which needs nothing of Node.
export type { Authenticate, KeyOwner } from './http/authentication.ts'
export { createHandler, type Handler } from './http/handler.ts'
export {
  createNodeListener,
  type NodeListener,
  type NodeRequest,
  type NodeResponse,
  nodeRequestInfo,
} from './http/node-listener.ts'
export type { Answer, HandlerOptions, RequestInfo } from './http/options.ts'
export type { Plan } from './http/plan.ts'
export type { Budget, MakeLimiter, RateLimiter } from './http/rate-limit.ts'
export type { Operation } from './http/route.ts'
