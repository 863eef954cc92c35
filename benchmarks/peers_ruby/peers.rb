# Milliseconds of processor time that HexaPDF needs for one seal, as its guide shows it.
# ruby peers.rb FILE.pdf KEY.p12 PASSWORD ROUNDS  ->  {"HexaPDF": 12.3}
require 'hexapdf'
require 'json'
require 'openssl'
require 'stringio'

path, key_path, password, rounds = ARGV
FILE = File.binread(path)
KEYS = OpenSSL::PKCS12.new(File.binread(key_path), password)

def seal
  out = StringIO.new(''.b)
  document = HexaPDF::Document.new(io: StringIO.new(FILE))
  document.sign(out, signature_type: :pades, certificate: KEYS.certificate, key: KEYS.key,
                     certificate_chain: KEYS.ca_certs || [])
  raise 'it is not sealed' unless out.string.bytesize > FILE.bytesize
end

def timed
  before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond)
  seal
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond) - before
end

3.times { seal } # warm
times = Array.new(Integer(rounds)) { timed }.sort
puts JSON.generate('HexaPDF' => times[times.size / 2])
