/** `@portico/http`: what a server and a client share: header fields, bodies, exchanges, deadlines. */
export { discardingSink, emptySource, isAtHand, type Sink, type Source, sourceOf } from './net/body.ts'
export { collect } from './net/collect.ts'
export {
  addCookiePair,
  cookieLines,
  cookiePairs,
  cookieValues,
  removeCookie,
  setCookie,
  setCookieLines,
} from './net/cookies.ts'
export { Deadline, Deadlines } from './net/deadlines.ts'
export { decodedBody } from './net/decoded-body.ts'
export {
  type BytesEdit,
  type ConnectionInfo,
  type Exchange,
  type ExchangeHandler,
  type ExchangeObserver,
  plainAddress,
  type RawConnection,
  type UnderWay,
} from './net/exchange.ts'
export { isConnectionField, isForwardingHeader, mayBeTrailer } from './net/field-rules.ts'
export { fieldText } from './net/field-text.ts'
export { HeaderBlock, isHeaderValue, nameList } from './net/header-block.ts'
export { Hops, HOPS_HEADER } from './net/hops.ts'
export { latin1 } from './net/latin1.ts'
export { isAmbiguousPath, isAuthority } from './net/http1/target.ts'
export { ObservedBody } from './net/observed-body.ts'
export { ReplayableBody } from './net/replayable-body.ts'
export { ThroughBody } from './net/through-body.ts'
