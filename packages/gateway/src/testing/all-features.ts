import * as features from '../compile/load-features.ts'
import { loadablesIn } from '../pipeline/compiled/later.ts'
import { backendSteps, trafficSteps } from '../policies/order.ts'

// For tests that compile configs by themselves, whatever these need.
for (const [, part] of [features, trafficSteps, backendSteps].flatMap(loadablesIn)) await part.load()
