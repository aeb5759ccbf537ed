import type { ProcessingMode } from '../../protos/envoy/extensions/filters/http/ext_proc/v3/processing_mode.ts'

type BodyMode = 'None' | 'Streamed' | 'Buffered' | 'BufferedPartial' | 'FullDuplexStreamed'

/** The parts of a request, or of a response, that the processor gets. */
export interface DirectionModes {
  sendsHeaders: boolean
  body: BodyMode
  sendsTrailers: boolean
}

export interface Modes {
  readonly request: DirectionModes
  readonly response: DirectionModes
}

type SendMode = 'Send' | 'Skip'

/** The configured modes; an unset mode sends the part, and streams a body full duplex. */
interface ModeOptions {
  readonly requestHeaderMode?: SendMode
  readonly requestBodyMode?: BodyMode
  readonly requestTrailerMode?: SendMode
  readonly responseHeaderMode?: SendMode
  readonly responseBodyMode?: BodyMode
  readonly responseTrailerMode?: SendMode
}

export function modesOf(options: ModeOptions | undefined): Modes {
  const requestBody = options?.requestBodyMode ?? 'FullDuplexStreamed'
  const responseBody = options?.responseBodyMode ?? 'FullDuplexStreamed'
  const isStreamed = requestBody === 'FullDuplexStreamed' || responseBody === 'FullDuplexStreamed'
  return {
    request: {
      sendsHeaders: options?.requestHeaderMode !== 'Skip',
      body: requestBody,
      sendsTrailers: isStreamed || options?.requestTrailerMode !== 'Skip',
    },
    response: {
      sendsHeaders: options?.responseHeaderMode !== 'Skip',
      body: responseBody,
      sendsTrailers: isStreamed || options?.responseTrailerMode !== 'Skip',
    },
  }
}

/** The modes that the processor asks for with this request; a streamed mode stays, because both sides have begun with it. */
export function overridden({ request, response }: Modes, wanted: ProcessingMode): Modes {
  return {
    request: {
      sendsHeaders: request.sendsHeaders,
      body: bodyAfter(request.body, wanted.requestBodyMode),
      sendsTrailers: sendAfter(request.sendsTrailers, wanted.requestTrailerMode),
    },
    response: {
      sendsHeaders: sendAfter(response.sendsHeaders, wanted.responseHeaderMode),
      body: bodyAfter(response.body, wanted.responseBodyMode),
      sendsTrailers: sendAfter(response.sendsTrailers, wanted.responseTrailerMode),
    },
  }
}

/** Body modes by their number in messages. */
const BODY_MODES: readonly BodyMode[] = ['None', 'Streamed', 'Buffered', 'BufferedPartial', 'FullDuplexStreamed']

/** The number of a mode in messages. */
export function bodyModeNumber(mode: BodyMode): 0 | 1 | 2 | 3 | 4 {
  return BODY_MODES.indexOf(mode) as 0 | 1 | 2 | 3 | 4
}

/** The modes of copies that wait for no answer: bodies go piece by piece, and nothing comes back. */
export function observed({ request, response }: Modes): Modes {
  const copied = (modes: DirectionModes): DirectionModes => ({
    ...modes,
    body: modes.body === 'None' ? 'None' : 'Streamed',
  })
  return { request: copied(request), response: copied(response) }
}

function bodyAfter(now: BodyMode, wanted: number): BodyMode {
  return now === 'FullDuplexStreamed' ? now : (BODY_MODES[wanted] ?? now)
}

/** Applies an override; 0 keeps the configured value. */
function sendAfter(now: boolean, wanted: number): boolean {
  return wanted === 0 ? now : wanted === 1
}
