import type { Server } from 'node:http';

export const DEFAULT_PORT: number;
export function createStaticServer(root: string): Server;
export function listenFrom(server: Server, port: number): Promise<number>;
export function parsePort(text: string): number;
export function serve(options: { dir: string; port: number }): Promise<void>;
