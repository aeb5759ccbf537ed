import type { TestContext } from 'node:test'
import type {
  ProcessingRequest,
  ProcessingResponse,
} from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import { answerTo, complete, headers, piece, type Processor, type ProcessorCall, useProcessor } from './processor.ts'

/** The request that a picker chooses an endpoint for. */
interface PickedRequest {
  readonly head: ProcessingRequest
  readonly body: string
}

export interface PickerOptions {
  /**
   * `stream` returns bodies as the protocol says; `plain` answers each piece of a body with nothing to change, and pieces of
   * requests before the head, as the reference picker does.
   */
  bodies?: 'stream' | 'plain'
  /** Set on responses to clients, with the endpoint that the gateway reports. */
  servedHeader?: string
}

/** The choice: endpoints in order, or a message of the picker's own. */
export type Pick = (request: PickedRequest) => string | Partial<ProcessingResponse> | null

interface TestPicker extends Processor {
  /** The requests it was asked about. */
  asked: PickedRequest[]
  /** Called in place of an answer to the head of a response. */
  onResponse: ((call: ProcessorCall) => void) | null
}

/** An endpoint picker on the library of gRPC: reads the whole request, and answers with the choice of `pick`. */
export async function usePicker(
  t: TestContext,
  pick: Pick,
  { bodies = 'stream', servedHeader }: PickerOptions = {},
): Promise<TestPicker> {
  const asked: PickedRequest[] = []
  let picker: TestPicker | null = null
  const processor = await useProcessor(t, (call) => {
    let head: ProcessingRequest | null = null
    const chunks: Buffer[] = []
    const choose = (): void => {
      if (head === null) return
      const request = { head, body: Buffer.concat(chunks).toString() }
      asked.push(request)
      const chosen = pick(request)
      if (chosen === null) return
      if (typeof chosen !== 'string') return void call.write(complete(chosen))
      call.write(
        complete({ ...answerTo('requestHeaders', headers({ [KEY]: chosen })), dynamicMetadata: choice(chosen) }),
      )
      if (bodies === 'stream' && chunks.length > 0)
        call.write(complete(piece('requestBody', Buffer.concat(chunks), true)))
    }
    call.on('data', (message: ProcessingRequest) => {
      processor.seen.push(message)
      const part = message.request
      switch (part?.$case) {
        case 'requestHeaders':
          head = message
          if (part.value.endOfStream) choose()
          return
        case 'requestBody':
          chunks.push(Buffer.from(part.value.body))
          if (part.value.endOfStream) choose()
          if (bodies === 'plain') call.write(complete(answerTo('requestBody')))
          return
        case 'responseHeaders':
          if (picker !== null && picker.onResponse !== null) return picker.onResponse(call)
          return answerResponse(call, message, servedHeader)
        case 'responseBody': {
          const { body, endOfStream } = part.value
          const back =
            bodies === 'plain' ? answerTo('responseBody') : piece('responseBody', Buffer.from(body), endOfStream)
          call.write(complete(back))
          return
        }
        case 'requestTrailers':
        case 'responseTrailers':
        case undefined:
          return
      }
    })
    call.on('end', () => call.end())
  })
  picker = Object.assign(processor, { asked, onResponse: null })
  return picker
}

function answerResponse(call: ProcessorCall, message: ProcessingRequest, servedHeader: string | undefined): void {
  const set = servedHeader === undefined ? {} : { [servedHeader]: servedIn(message) ?? 'unknown' }
  call.write(complete(answerTo('responseHeaders', headers(set))))
}

/** The members that the gateway offers to the picker. */
export function offeredIn(request: PickedRequest | undefined): unknown {
  return request?.head.metadataContext?.filterMetadata.get('envoy.lb.subset_hint')?.[`${KEY}-subset`]
}

/** The endpoint that the gateway reports as the one that served a request. */
export function servedIn(message: ProcessingRequest): string | null {
  const served: unknown = message.metadataContext?.filterMetadata.get('envoy.lb')?.[`${KEY}-served`]
  return typeof served === 'string' ? served : null
}

function choice(endpoints: string): ProcessingResponse['dynamicMetadata'] {
  return { 'envoy.lb': { [KEY]: endpoints } }
}

const KEY = 'x-gateway-destination-endpoint'
