import { type JsonObject, textAt } from '@portico/http/json'
import { exactMember } from '../../edit-exactly.ts'
import { requestId, BadMessage, INVALID_PARAMS, readMessage, type RpcId, type RpcMessage } from '../../message.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure, TargetLink, TargetTransport } from '../../transport.ts'
import { answerLocally, type LocalServer, paramsOf, refuse, respond, say, soon } from '../local-server.ts'
import { ApiCall, type OpenapiOptions, type OpenapiServices } from './call.ts'
import { encodeRequest } from './encode-request.ts'
import { BadArgument, short } from './parameter-text.ts'
import { toolResult } from './tool-result.ts'

/** An HTTP API whose operations are tools. It knows no sessions, so any worker can go on. */
export function openapiTransport(options: OpenapiOptions): TargetTransport {
  const { title, version, operations } = options.tools
  const server: LocalServer = {
    info: { name: title, version },
    // Plain data, but of a type of its own.
    tools: operations.map(({ tool }): JsonObject => ({ ...tool })),
  }
  const operationsByName = new Map(operations.map((operation) => [operation.tool.name, operation]))
  const services = { ...options, server, operationsByName }
  return { isPortable: true, link: () => new OpenapiLink(services) }
}

/** An API in one session, of which it knows nothing. */
class OpenapiLink implements TargetLink {
  readonly session = ''
  readonly #services: OpenapiServices
  /** Calls under way, for clients that think better of one. */
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
    return soon(() => answer.failed({ code: 'unsupported', message: 'an API says nothing on its own account' }))
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
        // Read once more, so that numbers are numbers to those who look into it.
        const response = readMessage(respond(message, server, toolResult({ status, contentType, body })).bytes)
        if (response instanceof BadMessage) {
          return answer.failed({ code: 'bad_answer', message: 'its answer is nested too deeply' })
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
