import type { Env, Step } from '../context/step.ts'
import { type BodyUse, widest } from '../context/body-use.ts'

type Bodies = Pick<Step, 'requestBody' | 'responseBody' | 'readsBodies'>

/**
 * Notes what the expressions of a step read of bodies while it is made, so that none can be forgotten: a step speaks only
 * of what it reads besides.
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

  of({ requestBody = 'none', responseBody = 'none', readsBodies = false }: Bodies): Required<Bodies> {
    if (readsBodies) return { requestBody, responseBody, readsBodies }
    return {
      requestBody: widest([requestBody, ...this.#request]),
      responseBody: widest([responseBody, ...this.#response]),
      readsBodies,
    }
  }
}
