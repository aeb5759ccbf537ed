import type { Env, Step } from '../step.ts'
import { type BodyUse, widest } from './body-use.ts'

type Bodies = Pick<Step, 'requestBody' | 'responseBody'>

/**
 * Notes what the expressions of a step read of bodies while it is made, so that none can be forgotten: a step speaks of
 * bodies itself only where it knows better.
 */
export class ExpressionBodies {
  readonly env: Env
  readonly #request: BodyUse[] = []
  readonly #response: BodyUse[] = []

  constructor(env: Env) {
    this.env = {
      ...env,
      cel: (source, phase) => {
        const expression = env.cel(source, phase)
        // Logs come after everything: nothing waits for what they read.
        if (phase !== 'log') this.#request.push(expression.requestBody)
        this.#response.push(expression.responseBody)
        return expression
      },
    }
  }

  of({ requestBody, responseBody }: Bodies): Required<Bodies> {
    return {
      requestBody: requestBody ?? widest(this.#request),
      responseBody: responseBody ?? widest(this.#response),
    }
  }
}
