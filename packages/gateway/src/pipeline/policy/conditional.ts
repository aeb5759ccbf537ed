import { bufferRequest, bufferResponse } from '../body/buffered-body.ts'
import { type Expression } from '../expression/expression.ts'
import { type BodyUse, widest } from '../context/body-use.ts'
import { ExpressionBodies } from '../body/expression-bodies.ts'
import type { Reply } from '../context/reply.ts'
import type { AnsweredRequest, RequestContext } from '../context/request-context.ts'
import type { Env, MakeRequestStep, MakeStep, Step, StepResult } from '../context/step.ts'

/** A plain policy, or a list of conditional forms, of which the first form with a true condition applies. */
export type OrConditional<Config> = Partial<Config> & {
  conditional?: readonly { condition?: string | undefined; policy: Config }[] | undefined
}

/** Chooses the form when the policy runs, so that conditions can read the results of earlier policies. */
export function conditional<Config extends object>(
  make: MakeRequestStep<Config>,
): MakeRequestStep<OrConditional<Config>>
export function conditional<Config extends object>(make: MakeStep<Config>): MakeStep<OrConditional<Config>>
export function conditional<Config extends object>(make: MakeStep<Config>): MakeStep<OrConditional<Config>> {
  return (config, env) => {
    // Without the list, the schema guarantees a complete plain form.
    if (config.conditional === undefined) return make(config as Config, env)
    const cases = config.conditional.map(({ condition, policy }, index) => ({
      condition: condition === undefined ? null : env.cel(condition, 'request'),
      form: form(make, policy, { ...env, attachment: `${env.attachment}/conditional/${index}` }),
    }))
    return new Choice(cases)
  }
}

interface Case {
  /** Null for a form that always applies. */
  condition: Expression | null
  form: Step
}

class Choice implements Step {
  /** The bodies that conditions read. Each form reads its own bodies, so that other forms can stream them. */
  readonly requestBody: BodyUse
  readonly readsBodies = true
  readonly replacesBodies: boolean
  readonly findsNothing: boolean
  readonly response?: Step['response']
  readonly done?: Step['done']
  readonly #cases: readonly Case[]

  constructor(cases: readonly Case[]) {
    this.#cases = cases
    this.requestBody = widest(cases.map(({ condition }) => condition?.requestBody))
    this.findsNothing = cases.every(({ form }) => form.findsNothing === true)
    this.replacesBodies = cases.some(({ form }) => form.replacesBodies === true)
    if (cases.some(({ form }) => form.response !== undefined)) this.response = (rx) => this.#respond(rx)
    if (cases.some(({ form }) => form.done !== undefined)) this.done = (rx) => this.#chosenFor(rx)?.done?.(rx)
  }

  readonly request = (rx: RequestContext): StepResult => {
    const index = this.#cases.findIndex(({ condition }) => condition === null || condition.isTrue(rx))
    const chosen = this.#cases[index]
    if (chosen === undefined) return rx.trace?.skipped('no condition is true')
    rx.trace?.note({ chosen: index, condition: chosen.condition?.source ?? null })
    ;(rx.chosen ??= new Map()).set(this, index)
    const result = chosen.form.request?.(rx)
    if (result instanceof Promise) return result.then((reply) => noted(rx, reply, index))
    return noted(rx, result, index)
  }

  #chosenFor(rx: RequestContext): Step | undefined {
    const index = rx.chosen?.get(this)
    return index === undefined ? undefined : this.#cases[index]?.form
  }

  /** Also runs for replies of earlier policies, for which no form was chosen. */
  #respond(rx: AnsweredRequest): StepResult {
    const chosen = this.#chosenFor(rx)
    if (chosen?.response === undefined) return rx.trace?.skipped('no form was chosen for this request')
    return chosen.response(rx)
  }
}

/** Keeps the index of the form that denied the request, for its record. */
function noted(rx: RequestContext, result: void | Reply, chosen: number): void | Reply {
  if (result !== undefined) rx.notes = { ...rx.notes, chosen }
  return result
}

/** Returns a step that reads the bodies it needs by itself. */
function form<Config>(make: MakeStep<Config>, config: Config, env: Env): Step {
  const bodies = new ExpressionBodies(env)
  const step = make(config, bodies.env) ?? {}
  const { requestBody, responseBody } = bodies.of(step)
  const { replacesBodies = false, findsNothing = false, request, response, done } = step
  const readRequest = requestBody === 'none' ? null : bufferRequest(requestBody, env.maxBufferBytes)
  const readResponse = responseBody === 'none' ? null : bufferResponse(responseBody, env.maxBufferBytes)
  const reading = afterReading(readRequest, request)
  const answering = response && afterReading(readResponse, response)
  return {
    replacesBodies,
    findsNothing,
    ...(reading && { request: reading }),
    ...(answering && { response: answering }),
    ...(done && { done }),
  }
}

type Run<Rx> = (rx: Rx) => StepResult

function afterReading<Rx>(read: Run<Rx> | null, run: Run<Rx> | undefined): Run<Rx> | undefined {
  if (read === null) return run
  return (rx) => {
    const waiting = read(rx)
    if (waiting instanceof Promise) return waiting.then((reply) => reply ?? run?.(rx))
    return waiting ?? run?.(rx)
  }
}
