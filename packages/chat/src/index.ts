/** The translator: formats of clients and providers, the middle between them, and the losses of a translation. */
export type {
  ClientFormat,
  EncodeTarget,
  PassedStream,
  ResponseContext,
  StreamDecoder,
  StreamEncoder,
  UpstreamFormat,
} from './format.ts'
export { clientFormats, upstreamFormats } from './formats/index.ts'
export { readerShapeKeepalive } from './formats/shape-keepalive.ts'
export {
  type ChatError,
  type ChatEvent,
  type ChatRequest,
  type FinishReason,
  type FormatName,
  type Json,
  type JsonObject,
  type Loss,
  type Message,
  type Part,
  type StartedPart,
  type TextPart,
  type Tool,
  UnsupportedField,
  type Usage,
} from './middle.ts'
export { lose } from './request/carry-over.ts'
export { passesThrough } from './request/passes-through.ts'
export { brokenStream, kindOfStatus, STREAM_BROKEN } from './response/chat-error.ts'
export { type CollectedResponse, collectResponse } from './response/collect-response.ts'
export { createIds } from './response/new-id.ts'
export { type StreamFault, streamFault, type StreamFaultCode } from './response/chat-error.ts'
export type { Dependent, FoundText, NativeTexts, TextStep } from './texts/native-texts.ts'
export { callReadings } from './texts/call-readings.ts'
export { malformed, type Reading, type RequestVisitor, type UnexaminedKind } from './texts/request-texts.ts'
export { pickFormat } from './translate/translate-request.ts'
