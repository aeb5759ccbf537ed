import type { Env, Step } from '../context/step.ts'
import { type BodyUse, widest } from '../context/body-use.ts'

type Bodies = Pick<Step, 'requestBody' | 'responseBody' | 'readsBodies'>

/**
 * Collects which bodies the expressions of a step read, while the step is compiled. The step itself declares only the
 * bodies that it reads without an expression.
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
        // Log expressions run after the request is over, so no step waits for the request body on their behalf.
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
