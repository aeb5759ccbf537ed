import { join } from 'node:path'
import { programAt, programVersion } from '../machine.mjs'

/**
 * A gateway of language models in Go.
 * @type {import('./index.mjs').Peer}
 */
export const bifrost = {
  name: 'bifrost',
  variable: 'BENCH_BIFROST',
  onlyNamed: true,
  // On this path, models need no provider prefix.
  chatPath: '/openai/v1/chat/completions',
  find() {
    const command = programAt('BENCH_BIFROST', 'bifrost-http')
    return command && { command, version: programVersion(command, ['-version'], /v?(\d+\.\d+\.\d+[\w.-]*)/) }
  },
  plan: ({ dir, port, origin, spend }) => ({
    files: { 'config.json': JSON.stringify({ ...config(origin), ...(spend && governance(dir)) }) },
    args: ['-app-dir', dir, '-host', '127.0.0.1', '-port', String(port), '-log-level', 'error'],
    // One processor for the Go scheduler is its single worker.
    env: { GOMAXPROCS: '1' },
    ready: `http://127.0.0.1:${port}/health`,
    ...(spend && { makeKey: async () => ({ 'x-bf-vk': KEY }) }),
  }),
}

/** The key of the client. Its budget is larger than any load can spend, and Bifrost needs a store for such keys. */
const KEY = 'sk-bf-bench'

function governance(dir) {
  const budget = { id: 'budget-bench', max_limit: 1_000_000, reset_duration: '1d', virtual_key_id: 'vk-bench' }
  const provider = { provider: 'openai', allowed_models: ['*'], key_ids: ['*'], weight: 1 }
  const key = { id: 'vk-bench', name: 'bench', value: KEY, is_active: true, provider_configs: [provider] }
  return {
    governance: { budgets: [budget], virtual_keys: [key] },
    config_store: { enabled: true, type: 'sqlite', config: { path: join(dir, 'config.db') } },
  }
}

function config(origin) {
  const key = { name: 'bench', value: 'key-of-the-gateway', models: ['*'], weight: 1 }
  return {
    client: { enable_logging: false, drop_excess_requests: false, initial_pool_size: 1000 },
    providers: {
      openai: {
        keys: [key],
        network_config: { base_url: `http://127.0.0.1:${origin}`, max_retries: 0 },
        concurrency_and_buffer_size: { concurrency: 1000, buffer_size: 5000 },
      },
    },
    config_store: { enabled: false },
    logs_store: { enabled: false },
  }
}
