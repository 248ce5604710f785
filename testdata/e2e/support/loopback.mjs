// Loaded into other servers before they start (node --import): they listen only on loopback, on
// a free port, which is printed to standard output.
import net from 'node:net';

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function listenOnLoopback(...words) {
  this.once('listening', () => process.stdout.write(`port ${this.address().port}\n`));
  return listen.call(this, { port: 0, host: '127.0.0.1' }, ...words.filter((word) => typeof word === 'function'));
};
