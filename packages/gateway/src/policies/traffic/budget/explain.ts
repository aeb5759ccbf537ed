import { type Explainer, placeIn, remedy, textIn, value } from '../../../findings/subject.ts'

/** A refusal for want of money or tokens. */
export const budgetExceeded: Explainer = (subject) => ({
  headline: textIn(subject.reason, 'reason') ?? 'a budget is exceeded',
  place: placeIn(subject, 'limits'),
  values: [value('code', 'budget_exceeded')],
  wouldPass: [
    remedy('time', 'the request is sent in the next period of the budget'),
    remedy('config', 'the budget is larger', { place: placeIn(subject, 'limits') }),
    remedy('client', 'the request sets a smaller maximum of output tokens'),
  ],
})

/** A refusal because the price of the model is unknown. */
export const modelUnpriced: Explainer = (subject) => ({
  headline: textIn(subject.reason, 'reason') ?? 'the price of the model is unknown',
  place: placeIn(subject, 'unpriced'),
  values: [value('code', 'model_unpriced')],
  wouldPass: [
    remedy('config', 'the `prices` policy of the backend has a price for the model'),
    remedy('config', '`unpriced` is Allow', { place: placeIn(subject, 'unpriced') }),
  ],
})

/** A refusal because the store of budgets did not answer. */
export const budgetUnavailable: Explainer = (subject) => ({
  headline: 'the store of budgets did not answer',
  place: placeIn(subject, 'limits'),
  values: [value('code', 'budget_unavailable')],
  wouldPass: [
    remedy('backend', 'the Redis server of `config.stores` answers in time'),
    remedy('config', '`failureMode` of `config.stores.redis` is Open'),
  ],
})
