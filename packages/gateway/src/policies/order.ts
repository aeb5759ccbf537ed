import type { MakeStep } from '../pipeline/step.ts'
import type { TrafficPolicies } from './index.ts'
import { cors } from './traffic/cors/step.ts'
import { directResponse } from './traffic/direct-response/step.ts'
import { headerModifiers } from './traffic/header-modifiers/step.ts'
import { hostRewrite } from './traffic/host-rewrite/step.ts'
import { requestMirror } from './traffic/request-mirror/step.ts'
import { requestRedirect } from './traffic/request-redirect/step.ts'
import { retry } from './traffic/retry/step.ts'
import { timeouts } from './traffic/timeouts/step.ts'
import { upgrades } from './traffic/upgrades/step.ts'
import { urlRewrite } from './traffic/url-rewrite/step.ts'

export type TrafficName = keyof TrafficPolicies

/** Every traffic policy, in the order in which requests meet them. A policy missing here does not compile. */
export const trafficSteps: { [Name in TrafficName]-?: MakeStep<NonNullable<TrafficPolicies[Name]>> } = {
  // Limits that hold for everything after them.
  timeouts,
  retry,
  upgrades,
  // Preflights carry no credentials, so they are answered before anything could ask for some.
  cors,
  // The client's headers are final before the destination is rewritten.
  headerModifiers,
  // The default of the backend's kind first, so that an explicit rewrite can replace it.
  hostRewrite,
  urlRewrite,
  // Replies of the gateway come last, so that everything above protects them.
  requestRedirect,
  directResponse,
  // Only what really goes to a backend is mirrored, as it goes there.
  requestMirror,
}

/** Responses meet them in this order: headers that answer a browser are never overwritten. */
export const responseOrder: readonly TrafficName[] = ['headerModifiers', 'cors']
