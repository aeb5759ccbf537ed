import { join } from 'node:path'
import { programAt, programVersion } from '../machine.mjs'

/**
 * A gateway of language models in Python.
 * @type {import('./index.mjs').Peer}
 */
export const litellm = {
  name: 'litellm',
  variable: 'BENCH_LITELLM',
  onlyNamed: true,
  find() {
    const command = programAt('BENCH_LITELLM', 'litellm')
    return command && { command, version: programVersion(command, ['--version'], /(\d+\.\d+\.\d+[\w.-]*)/) }
  },
  plan: ({ dir, port, origin }) => ({
    // JSON is valid YAML.
    files: { 'config.yaml': JSON.stringify(config(origin)) },
    args: [
      ...['--config', join(dir, 'config.yaml'), '--host', '127.0.0.1', '--port', String(port)],
      ...['--num_workers', '1', '--telemetry', 'False'],
    ],
    // Prices come with the package; without this setting it downloads newer ones.
    env: { LITELLM_LOG: 'ERROR', LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    ready: `http://127.0.0.1:${port}/health/liveliness`,
    patienceMs: 120_000,
  }),
}

function config(origin) {
  const model = 'gpt-4.1-mini'
  const params = { model: `openai/${model}`, api_base: `http://127.0.0.1:${origin}/v1`, api_key: 'key-of-the-gateway' }
  return {
    model_list: [{ model_name: model, litellm_params: params }],
    litellm_settings: { num_retries: 0 },
    // No client key, because the other peers need none either.
    general_settings: { dangerously_permit_weak_or_unset_master_key: true },
  }
}
