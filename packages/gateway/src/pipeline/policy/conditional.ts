import { bufferRequest, bufferResponse } from '../body/buffered-body.ts'
import { type Expression } from '../expression/expression.ts'
import { type BodyUse, widest } from '../context/body-use.ts'
import { ExpressionBodies } from '../body/expression-bodies.ts'
import type { Reply } from '../context/reply.ts'
import type { AnsweredRequest, RequestContext } from '../context/request-context.ts'
import type { Env, MakeRequestStep, MakeStep, Step, StepResult } from '../context/step.ts'

/** A policy in its plain form, or in several of which the first whose condition holds is taken. */
export type OrConditional<Config> = Partial<Config> & {
  conditional?: readonly { condition?: string | undefined; policy: Config }[] | undefined
}

/** Chosen when the policy's turn comes, so that conditions see what earlier policies found out. */
export function conditional<Config extends object>(
  make: MakeRequestStep<Config>,
): MakeRequestStep<OrConditional<Config>>
export function conditional<Config extends object>(make: MakeStep<Config>): MakeStep<OrConditional<Config>>
export function conditional<Config extends object>(make: MakeStep<Config>): MakeStep<OrConditional<Config>> {
  return (config, env) => {
    // Without the list the schema has seen to it that the plain form is whole.
    if (config.conditional === undefined) return make(config as Config, env)
    const cases = config.conditional.map(({ condition, policy }, index) => ({
      condition: condition === undefined ? null : env.cel(condition, 'request'),
      form: form(make, policy, { ...env, attachment: `${env.attachment}/conditional/${index}` }),
    }))
    return new Choice(cases)
  }
}

interface Case {
  /** Null: always. */
  condition: Expression | null
  form: Step
}

class Choice implements Step {
  /** Only what conditions read: a form reads bodies for itself, so that the others let them flow. */
  readonly requestBody: BodyUse
  readonly readsBodies = true
  readonly replacesBodies: boolean
  readonly response?: Step['response']
  readonly done?: Step['done']
  readonly #cases: readonly Case[]

  constructor(cases: readonly Case[]) {
    this.#cases = cases
    this.requestBody = widest(cases.map(({ condition }) => condition?.requestBody))
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

  /** Also on replies of policies before this one: then nothing was chosen. */
  #respond(rx: AnsweredRequest): StepResult {
    const chosen = this.#chosenFor(rx)
    if (chosen?.response === undefined) return rx.trace?.skipped('no form for this request')
    return chosen.response(rx)
  }
}

/** A record of what was refused says by which form. */
function noted(rx: RequestContext, result: void | Reply, chosen: number): void | Reply {
  if (result !== undefined) rx.notes = { ...rx.notes, chosen }
  return result
}

/** A step that reads the bodies it needs by itself. */
function form<Config>(make: MakeStep<Config>, config: Config, env: Env): Step {
  const bodies = new ExpressionBodies(env)
  const step = make(config, bodies.env) ?? {}
  const { requestBody, responseBody } = bodies.of(step)
  const { replacesBodies = false, request, response, done } = step
  const readRequest = requestBody === 'none' ? null : bufferRequest(requestBody, env.maxBufferBytes)
  const readResponse = responseBody === 'none' ? null : bufferResponse(responseBody, env.maxBufferBytes)
  const reading = afterReading(readRequest, request)
  const answering = response && afterReading(readResponse, response)
  return {
    replacesBodies,
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
