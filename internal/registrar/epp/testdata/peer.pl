# peer.pl PORT CERT KEY CA CODE: uses the registry as Debian's Net::EPP does. It
# prints a line for each step and fails with the first that is not as it should be.
# CODE is the authInfo of peer-elsewhere.com, which another registrar has.
use strict;
use warnings;
use Net::EPP::Simple;
use Net::EPP::Frame;

my ($port, $cert, $key, $ca, $code) = @ARGV;

sub connected {
	my ($user) = @_;
	my $epp = Net::EPP::Simple->new(
		host => 'localhost', port => $port, user => $user, pass => 'correct horse', timeout => 120, load_config => 0, reconnect => 0,
		key => $key, cert => $cert, verify => 1, ca_file => $ca,
	);
	die "log in as $user: $Net::EPP::Simple::Error\n" unless $epp;
	return $epp;
}

sub step {
	my ($what, $good) = @_;
	die "$what: $Net::EPP::Simple::Code $Net::EPP::Simple::Error $Net::EPP::Simple::Message\n" unless $good;
	print "$what\n";
}

my $ours  = connected('deed-epp');
my $other = connected('other-epp');
step('login', 1);
step('hello', $ours->ping);

step('check: free', $ours->check_domain('peer.com') == 1);
step('create host', $ours->create_host({ name => $_, addrs => [] })) for ('ns1.example.net', 'ns2.example.net', 'ns3.example.net');
step('check host: exists', $ours->check_host('ns1.example.net') == 0);
my $create = Net::EPP::Frame::Command::Create::Domain->new;
$create->setDomain('peer.com');
$create->setPeriod(2);
$create->setNS('ns1.example.net', 'ns2.example.net');
$create->setAuthInfo('first-code-1');
step('create', $ours->_get_response_result($ours->_request($create)));
step('create again: 2302', !$ours->_get_response_result($ours->_request(do {
	my $again = Net::EPP::Frame::Command::Create::Domain->new;
	$again->setDomain('peer.com'); $again->setPeriod(1); $again->setAuthInfo('x'); $again;
})) && $Net::EPP::Simple::Code == 2302);
step('check: taken', $ours->check_domain('peer.com') == 0);

my $info = $ours->domain_info('peer.com');
step('info', $info && lc($info->{name}) eq 'peer.com' && $info->{clID} eq 'deed-epp' && $info->{authInfo} eq 'first-code-1' && @{ $info->{ns} } == 2);
step('info by another: no authInfo', do { my $i = $other->domain_info('peer.com'); $i && !$i->{authInfo} });
step('info: 2303', !$ours->domain_info('nobody-has-this.com') && $Net::EPP::Simple::Code == 2303);

my $until = substr($info->{exDate}, 0, 10);
step('renew', $ours->renew_domain({ name => 'peer.com', cur_exp_date => $until, period => 1 }));
step('renew again: refused', !$ours->renew_domain({ name => 'peer.com', cur_exp_date => $until, period => 1 }));
step('renew by another: 2201', !$other->renew_domain({ name => 'peer.com', cur_exp_date => $until, period => 1 }) && $Net::EPP::Simple::Code == 2201);

step('update', $ours->update_domain({
	name => 'peer.com', chg => { authInfo => 'second-code-2' },
	add => { ns => ['ns3.example.net'] }, rem => { ns => ['ns1.example.net'] },
}));
step('update: unlock', $ours->update_domain({ name => 'peer.com', rem => { status => ['clientTransferProhibited'] } }));
$info = $ours->domain_info('peer.com');
step('info after update', $info->{authInfo} eq 'second-code-2' && join(' ', sort @{ $info->{ns} }) eq 'ns2.example.net ns3.example.net');

step('transfer: wrong code, 2202', !$ours->domain_transfer_request('peer-elsewhere.com', 'wrong', 1) && $Net::EPP::Simple::Code == 2202);
my $transfer = $ours->domain_transfer_request('peer-elsewhere.com', $code, 1);
step('transfer request', $transfer && $transfer->{trStatus} eq 'pending' && $transfer->{reID} eq 'deed-epp');
step('transfer query', $ours->domain_transfer_query('peer-elsewhere.com')->{trStatus} eq 'pending');
step('transfer cancel', $ours->domain_transfer_cancel('peer-elsewhere.com'));
step('transfer query: cancelled', $ours->domain_transfer_query('peer-elsewhere.com')->{trStatus} eq 'clientCancelled');
step('transfer request again', $ours->domain_transfer_request('peer-elsewhere.com', $code, 1));
step('transfer reject', $other->domain_transfer_reject('peer-elsewhere.com'));
step('transfer request, a third time', $ours->domain_transfer_request('peer-elsewhere.com', $code, 1));
step('transfer approve by us: 2201', !$ours->domain_transfer_approve('peer-elsewhere.com') && $Net::EPP::Simple::Code == 2201);
step('transfer approve', $other->domain_transfer_approve('peer-elsewhere.com'));
step('info after transfer', $ours->domain_info('peer-elsewhere.com')->{clID} eq 'deed-epp');

my $messages = 0;
while (1) {
	my $r = $other->request(Net::EPP::Frame::Command::Poll::Req->new);
	last if $r->code == 1300;
	step('poll', $r->code == 1301);
	my $ack = Net::EPP::Frame::Command::Poll::Ack->new;
	$ack->setMsgID($r->getElementsByLocalName('msgQ')->shift->getAttribute('id'));
	step('ack', $other->request($ack)->code == 1000);
	$messages++;
}
step("messages: $messages", $messages == 4); # three requests and a cancellation

step('delete', $ours->delete_domain('peer.com'));
step('check: free again', $ours->check_domain('peer.com') == 1);
step('logout', $ours->logout && $other->logout);
