import { type JsonObject, textAt } from '@portico/http/json'
import { exactMember } from '../../edit.ts'
import { requestId, BadMessage, INVALID_PARAMS, readMessage, type RpcId, type RpcMessage } from '../../protocol.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure, TargetLink, TargetTransport } from '../../transport.ts'
import { answerLocally, type LocalServer, paramsOf, refuse, respond, say, soon } from '../local-server.ts'
import { ApiCall, type OpenapiOptions, type OpenapiServices } from './call.ts'
import { encodeRequest } from './encode-request.ts'
import { BadArgument, short } from './parameter-text.ts'
import { toolResult } from './tool-result.ts'

/** Creates the transport of an HTTP API whose operations are tools. It has no sessions, so any worker can serve a request. */
export function openapiTransport(options: OpenapiOptions): TargetTransport {
  const { title, version, operations } = options.tools
  const server: LocalServer = {
    info: { name: title, version },
    // The copy changes the type only: `tool` is plain data.
    tools: operations.map(({ tool }): JsonObject => ({ ...tool })),
  }
  const operationsByName = new Map(operations.map((operation) => [operation.tool.name, operation]))
  const services = { ...options, server, operationsByName }
  return { isPortable: true, link: () => new OpenapiLink(services) }
}

/** The link of one session to an API, which has no sessions itself. */
class OpenapiLink implements TargetLink {
  readonly session = ''
  readonly #services: OpenapiServices
  /** The functions that cancel running calls, by request id. */
  readonly #callsById = new Map<RpcId, () => void>()

  constructor(services: OpenapiServices) {
    this.#services = services
  }

  request(message: RpcMessage, caller: Caller, answer: AnswerSink): LinkCall {
    if (message.method === 'tools/call') return this.#callTool(message, caller, answer)
    return say(answerLocally(message, this.#services.server), answer)
  }

  tell(message: RpcMessage, _caller: Caller, done: (failure: TargetFailure | null) => void): LinkCall {
    const { requestId } = paramsOf(message)
    if (
      message.method === 'notifications/cancelled' &&
      (typeof requestId === 'string' || typeof requestId === 'number')
    ) {
      this.#callsById.get(requestId)?.()
    }
    return soon(() => done(null))
  }

  listen(_lastEventId: string, _caller: Caller, answer: AnswerSink): LinkCall {
    return soon(() => answer.failed({ code: 'unsupported', message: 'an API sends no messages outside of requests' }))
  }

  end(): void {}

  #callTool(message: RpcMessage, caller: Caller, answer: AnswerSink): LinkCall {
    const { server, operationsByName } = this.#services
    const name = textAt(paramsOf(message), 'name') ?? ''
    const operation = operationsByName.get(name)
    if (operation === undefined) return say(refuse(message, INVALID_PARAMS, `Unknown tool: ${short(name)}`), answer)
    const request = encodeRequest(operation, exactMember(message, 'params')?.arguments)
    if (request instanceof BadArgument) {
      return say(refuse(message, INVALID_PARAMS, `Invalid arguments for tool ${name}: ${request.message}`), answer)
    }
    const id = requestId(message)
    const call = new ApiCall(caller, this.#services, {
      answered: (status, contentType, body) => {
        this.#callsById.delete(id)
        // Parsed again, so that numbers are numbers in the message.
        const response = readMessage(respond(message, server, toolResult({ status, contentType, body })).bytes)
        if (response instanceof BadMessage) {
          return answer.failed({ code: 'bad_answer', message: 'its response is nested too deeply' })
        }
        answer.message(response, '')
        answer.closed()
      },
      failed: (failure) => {
        this.#callsById.delete(id)
        answer.failed(failure)
      },
    })
    this.#callsById.set(id, () => {
      call.cancel(CANCELLED)
      this.#callsById.delete(id)
      answer.failed({ code: 'broken', message: CANCELLED.message })
    })
    call.start(request)
    return {
      cancel: (cause) => {
        this.#callsById.delete(id)
        call.cancel(cause)
      },
      resume() {},
    }
  }
}

const CANCELLED = new Error('the call was cancelled')
