import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { type CheckableProvider, checkableProviders } from '@portico/gateway/doctor'
import { type DoctorCheck, type DoctorFinding, type DoctorSubject, fine, notChecked } from '../check.ts'

/** Checks that the keys of model providers work, and that the models of the config exist. */
export const providers: DoctorCheck = {
  name: 'providers',
  summary: 'keys of model providers work, and models exist; one token with --spend-tokens',
  run: (subject) =>
    Promise.all(checkableProviders(subject.config.ir).map((provider) => checkProvider(provider, subject))).then((all) =>
      all.flat(),
    ),
}

async function checkProvider(
  provider: CheckableProvider,
  { timeoutMs, spendsTokens }: DoctorSubject,
): Promise<DoctorFinding[]> {
  const { name, unchecked, list, token, model } = provider
  const about = `provider ${name}`
  if (unchecked !== '') return [notChecked(about, `its key is not checked: ${unchecked}`)]
  const found: DoctorFinding[] = []
  if (list === null) found.push(notChecked(about, 'its key is not checked: it has no list of models'))
  else found.push(listFinding(provider, await send(provider, list, timeoutMs)))
  if (!spendsTokens) return found
  if (token === null) {
    const reason = model === null ? 'the config names no model' : 'its format is not supported here'
    return [...found, notChecked(`${about}, one token`, `is not asked: ${reason}`)]
  }
  return [
    ...found,
    statusFinding(`${about}, one token of ${model}`, await send(provider, token, timeoutMs), 'is answered'),
  ]
}

interface ProviderAnswer {
  /** The status of the response; 0 when there was none. */
  readonly status: number
  readonly body: string
}

function listFinding({ name, model, modelsIn }: CheckableProvider, answer: ProviderAnswer): DoctorFinding {
  const about = `provider ${name}`
  if (answer.status !== 200) return statusFinding(about, answer, '')
  const models = modelsIn(answer.body)
  if (models === null) return notChecked(about, 'answers 200, but with no list of models')
  if (model === null) return fine(about, `accepts the key; ${models.length} models`)
  if (models.includes(model)) return fine(about, `accepts the key and has the model ${model}`)
  return {
    ...{ status: 'warning', about, finding: `accepts the key, but its list has no model ${model}` },
    why: 'Calls for a model that does not exist, or that the key may not use, fail with 404.',
    fix: 'Correct `model`, or give the key the right; lists of some vendors leave out aliases and fine-tuned models.',
  }
}

function statusFinding(about: string, { status }: ProviderAnswer, good: string): DoctorFinding {
  if (status === 200) return fine(about, good)
  const why = 'Calls to it fail, or fail over.'
  const [finding, fix] = STATUSES[status] ?? (status >= 500 ? FAILS : UNEXPECTED)
  const said = status === 0 ? 'does not answer' : finding.replace('<status>', String(status))
  return { status: status === 429 ? 'warning' : 'problem', about, finding: said, why, fix }
}

const STATUSES: Readonly<Record<number, readonly [string, string]>> = {
  0: ['', 'See the check `backends`.'],
  401: ['rejects the key', 'Correct the key: `auth.secretRef`, or the variable that it names.'],
  403: ['rejects the key for this call', 'Give the key the right, or use another one.'],
  404: ['does not know the path or the model', 'Correct `host`, the path prefix or `model`.'],
  429: ['limits the key now', 'Wait, or raise the limit or the credit of the account.'],
}
const FAILS = ['fails with <status>', 'Look at the status page of the vendor.'] as const
const UNEXPECTED = ['answers <status>', 'Check host and path of the provider.'] as const

/** Sends a request to a provider. The body of the response must never be printed. */
function send(
  { host, port, authority, tls }: CheckableProvider,
  { method, path, headers, body }: NonNullable<CheckableProvider['list']>,
  timeoutMs: number,
): Promise<ProviderAnswer> {
  return new Promise((resolve) => {
    const options = { host, port, path, method, headers: { ...headers, host: authority }, agent: false }
    const call = tls === null ? requestHttp(options) : requestHttps({ ...options, ...tls })
    const timer = setTimeout(() => call.destroy(), timeoutMs)
    const end = (answer: ProviderAnswer): void => {
      clearTimeout(timer)
      resolve(answer)
    }
    call.once('error', () => end({ status: 0, body: '' }))
    call.once('close', () => end({ status: 0, body: '' }))
    call.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        if (text.length < MOST_CHARACTERS) text += chunk
      })
      response.once('end', () => end({ status: response.statusCode ?? 0, body: text }))
    })
    call.end(body ?? undefined)
  })
}

const MOST_CHARACTERS = 8_000_000
