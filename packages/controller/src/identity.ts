/** Which GatewayClasses are ours, and whose name statuses bear. */
export const CONTROLLER_NAME = 'portico.dev/gateway'
