/** A route of this name ends every worker that gets the config. */
export const DEADLY = 'deadly-route'

/** The key of the environment data that names the module of a worker. */
export const WORKER_MODULE = 'portico-worker-module'
