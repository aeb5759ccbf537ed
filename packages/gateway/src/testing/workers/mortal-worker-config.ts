/** A route of this name ends every worker that gets the config. */
export const DEADLY = 'deadly-route'
