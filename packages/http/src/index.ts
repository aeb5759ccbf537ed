/** `@portico/http`: what a server and a client share: header fields, bodies, exchanges, deadlines. */
export { discardingSink, emptySource, isAtHand, type Sink, type Source, sourceOf } from './body/body.ts'
export { collect } from './body/collect.ts'
export {
  addCookiePair,
  cookieLines,
  cookiePairs,
  cookieValues,
  removeCookie,
  setCookie,
  setCookieLines,
} from './fields/cookies.ts'
export { Deadline, Deadlines } from './runtime/deadlines.ts'
export { decodedBody } from './body/decoded-body.ts'
export { plainAddress } from './exchange/connection-info.ts'
export {
  type BytesEdit,
  type ConnectionInfo,
  type Exchange,
  type ExchangeHandler,
  type ExchangeObserver,
  type RawConnection,
  type ActiveRequest,
} from './exchange/exchange.ts'
export { fieldText, isConnectionField, isForwardingHeader, mayBeTrailer } from './fields/field-rules.ts'
export { HeaderBlock, isHeaderValue, nameList } from './fields/header-block.ts'
export { Hops, HOPS_HEADER } from './fields/hops.ts'
export { latin1 } from './text/characters.ts'
export { isAmbiguousPath, isAuthority } from './http1/target.ts'
export { ObservedBody } from './body/observed-body.ts'
export { ReplayableBody } from './body/replayable-body.ts'
export { ThroughBody } from './body/through-body.ts'
